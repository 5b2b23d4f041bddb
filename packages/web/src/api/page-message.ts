import { AUTHORIZATION_ERRORS, PAGE_MESSAGES, type PageMessage } from '@phds/catalog/page-messages';

let shown: { readonly path: string; readonly message: PageMessage } | null = null;

/** Starts a page. Reads the message that the gateway has put into the document, at the address that it refused. */
export function startPageMessage(): void {
  const message = readMessage();
  shown = message === null ? null : { path: location.pathname, message };
}

/** The gateway's message for a path; null if there is none. */
export function findPageMessage(path: string): PageMessage | null {
  return shown?.path === path ? shown.message : null;
}

function readMessage(): PageMessage | null {
  const json = document.querySelector<HTMLMetaElement>('meta[name="message"]')?.content ?? '';
  try {
    const { code, error, ...rest } = JSON.parse(json) as PageMessage;
    const known = AUTHORIZATION_ERRORS.find((name) => name === error);
    if (!PAGE_MESSAGES.includes(code)) return null;
    return { code, ...rest, ...(known === undefined ? {} : { error: known }) };
  } catch {
    // Empty in every document without a message.
    return null;
  }
}
