import type { User } from './user-directory.ts';

const SHOWN_USERS = 50;

const STYLE = `
:root { color-scheme: light dark; --ground: #f6f7f9; --card: #fff; --line: #dfe3e8; --text: #1b2430; --soft: #5c6b7c; --accent: #0b6bcb; }
@media (prefers-color-scheme: dark) { :root { --ground: #12161c; --card: #1b2129; --line: #313a46; --text: #e7ecf2; --soft: #9dabba; --accent: #6cb2ff; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: start center; padding: 8vh 16px; background: var(--ground); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
main { width: 100%; max-width: 440px; }
h1 { font-size: 22px; margin: 0 0 4px; }
p { margin: 0 0 20px; color: var(--soft); }
form { margin: 0 0 8px; }
button { font: inherit; color: inherit; cursor: pointer; border-radius: 10px; border: 1px solid var(--line); background: var(--card); }
button:hover { border-color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.user { width: 100%; text-align: left; padding: 12px 16px; display: block; }
.user span { display: block; color: var(--soft); font-size: 14px; }
.other { display: flex; gap: 8px; margin-top: 20px; align-items: end; }
.other label { flex: 1; font-size: 14px; color: var(--soft); }
input { width: 100%; font: inherit; color: inherit; padding: 8px 12px; border-radius: 10px; border: 1px solid var(--line); background: var(--card); }
.other button, .out button { padding: 8px 16px; }
.out { display: flex; justify-content: space-between; align-items: center; padding: 12px 16px; border: 1px solid var(--line); border-radius: 10px; margin-bottom: 20px; }
.out form { margin: 0; }
[role=alert] { border-left: 4px solid #c62828; padding: 8px 12px; background: var(--card); color: var(--text); }
`;

/** The page to choose a user. */
export function renderSignInPage(options: {
  readonly users: readonly User[];
  readonly signedInAs: string | null;
  readonly returnTo: string | null;
}): string {
  const { users, signedInAs, returnTo } = options;
  const hidden =
    returnTo === null ? '' : `<input type="hidden" name="return_to" value="${escapeHtml(returnTo)}">`;
  const buttons = users.slice(0, SHOWN_USERS).map(
    ({ id, name, description }) => `<form method="post" action="/sign-in">${hidden}
<button class="user" name="user" value="${escapeHtml(id)}"><b>${escapeHtml(name)}</b> ${
      name === id ? '' : `(${escapeHtml(id)})`
    }<span>${escapeHtml(description)}</span></button></form>`,
  );
  return page(
    'Sign in',
    `<h1>Sign in</h1>
<p>Development only: pick who you are. There are no passwords here.</p>
${signedInAs === null ? '' : renderSignedIn(signedInAs, hidden)}
${buttons.join('\n')}
<form method="post" action="/sign-in" class="other">${hidden}
<label>Somebody else<input name="user" required maxlength="64" pattern="[A-Za-z0-9][A-Za-z0-9._@\\-]*" placeholder="user id" autocomplete="off"></label>
<button>Sign in</button></form>`,
  );
}

/** The page that shows an error. */
export function renderErrorPage(message: string): string {
  return page(
    'Sign in',
    `<h1>That did not work</h1><p role="alert">${escapeHtml(message)}</p><p><a href="/">Sign in</a></p>`,
  );
}

function renderSignedIn(userId: string, hidden: string): string {
  return `<div class="out"><span>Signed in as <b>${escapeHtml(userId)}</b></span>
<form method="post" action="/sign-out">${hidden}<button>Sign out</button></form></div>`;
}

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title><style>${STYLE}</style></head><body><main>
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
