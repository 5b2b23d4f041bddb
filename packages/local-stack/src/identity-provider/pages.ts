import type { User } from './users.ts';

const SHOWN_USERS = 50;

const STYLE = `
:root { color-scheme: light dark; --ground: #f5f7f6; --card: #fff; --line: #d6dedb; --text: #14211e; --soft: #4d5f5a; --accent: #0f766e; }
@media (prefers-color-scheme: dark) { :root { --ground: #10171a; --card: #182124; --line: #2c393d; --text: #e6efec; --soft: #a3b4b0; --accent: #5ad1c4; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: start center; padding: 8vh 16px; background: var(--ground); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
main { width: 100%; max-width: 440px; }
header { display: flex; align-items: center; gap: 10px; margin: 0 0 24px; font-weight: 700; }
h1 { font-size: 22px; margin: 0 0 4px; }
p { margin: 0 0 20px; color: var(--soft); }
form { margin: 0 0 8px; }
button { font: inherit; color: inherit; cursor: pointer; padding: 8px 16px; border-radius: 10px; border: 1px solid var(--line); background: var(--card); }
button:hover { border-color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.user { width: 100%; text-align: left; padding: 12px 16px; display: block; }
.user span { display: block; color: var(--soft); font-size: 14px; }
.other { display: flex; gap: 8px; margin: 20px 0; align-items: end; }
.other label { flex: 1; font-size: 14px; color: var(--soft); }
input { width: 100%; font: inherit; color: inherit; padding: 8px 12px; border-radius: 10px; border: 1px solid var(--line); background: var(--card); }
.now { padding: 12px 16px; border: 1px solid var(--line); border-radius: 10px; }
[role=alert] { border-left: 4px solid #c62828; padding: 8px 12px; background: var(--card); color: var(--text); }
`;

/** The mark of the web app. */
const MARK =
  '<svg width="28" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" fill="#0f766e"/>' +
  '<path d="M5 17h6l3-8 5 14 3-6h5" fill="none" stroke="#fff" stroke-width="2.6"/></svg>';

/** The page to choose a user. Its forms are sent to `action`. */
export function renderSignInPage(options: {
  readonly users: readonly User[];
  readonly signedInAs: string | null;
  readonly action: string;
}): string {
  const { users, signedInAs, action } = options;
  const form = `<form method="post" action="${escapeHtml(action)}"`;
  const buttons = users.slice(0, SHOWN_USERS).map(
    ({ id, name, description }) => `${form}>
<button class="user" name="user" value="${escapeHtml(id)}"><b>${escapeHtml(name)}</b> ${
      name === id ? '' : `(${escapeHtml(id)})`
    }<span>${escapeHtml(description)}</span></button></form>`,
  );
  return page(
    'Sign in',
    `<h1>Sign in</h1>
<p>Development only: pick who you are. There are no passwords here.</p>
${signedInAs === null ? '' : `<p class="now">Signed in as ${escapeHtml(signedInAs)}: confirm it, or pick somebody else.</p>`}
${buttons.join('\n')}
${form} class="other">
<label>Somebody else<input name="user" required maxlength="64" pattern="[A-Za-z0-9][A-Za-z0-9._@\\-]*" placeholder="user id" autocomplete="off"></label>
<button>Sign in</button></form>
${form}><button name="cancel" value="yes">Cancel</button></form>`,
  );
}

/** The page at the provider's own address, for people who open it by hand. */
export function renderHomePage(gatewayUrl: string): string {
  return page(
    'Identity provider',
    `<h1>Identity provider for development</h1>
<p>People sign in here when the service sends them: <a href="${escapeHtml(gatewayUrl)}/">open the service</a>.</p>
<p><a href="/session/end">Sign out</a></p>`,
  );
}

/** The page that ends the session at the provider, at once or when the button is pressed. The id of `form` is `op.logoutForm`. */
export function renderSignOutPage(form: string, atOnce: boolean): string {
  const button = '<button name="logout" value="yes" form="op.logoutForm">Sign out</button>';
  const script = "document.querySelector('button').click();";
  return page('Sign out', `<h1>Sign out</h1>${form}${button}${atOnce ? `<script>${script}</script>` : ''}`);
}

/** The page after a sign-out that has no page to return to. */
export function renderSignedOutPage(): string {
  return page('Signed out', '<h1>You are signed out</h1><p><a href="/">Identity provider</a></p>');
}

/** The page that shows an error. */
export function renderErrorPage(message: string): string {
  return page(
    'Sign in',
    `<h1>That did not work</h1><p role="alert">${escapeHtml(message)}</p><p><a href="/">Identity provider</a></p>`,
  );
}

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title><style>${STYLE}</style></head><body><main>
<header>${MARK} Partner Health Data</header>
${body}
</main></body></html>
`;
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
