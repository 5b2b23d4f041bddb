import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PageMessage } from '@phds/catalog/page-messages';
import type { Config } from '../../config.ts';

// Same name as in packages/web/vite.config.ts.
const NONCE_PLACEHOLDER = 'CSP_NONCE';
// Same names as in packages/web/index.html.
const CHANGE_LIMIT_PLACEHOLDER = 'CHANGE_LIMIT_MS';
const SUPPORT_PLACEHOLDER = 'SUPPORT_URL';
const MESSAGE_PLACEHOLDER = 'PAGE_MESSAGE';

/** Makes the document of the web app, with a message for its `message` element; `nonce` is that of the policy. */
export type WebPage = (nonce: string, message: PageMessage | null) => string;

/** Reads the built page with the settings that it needs once. Null if it is not built. */
export function loadWebPage(config: Config): WebPage | null {
  const file = join(config.WEB_DIRECTORY, 'index.html');
  if (!existsSync(file)) return null;
  const support = escapeHtml(config.SUPPORT_URL ?? '');
  const page = readFileSync(file, 'utf8')
    .replaceAll(CHANGE_LIMIT_PLACEHOLDER, String(toChangeLimitMs(config)))
    .replaceAll(SUPPORT_PLACEHOLDER, () => support);
  return (nonce, message) => {
    const escaped = message === null ? '' : escapeHtml(JSON.stringify(message));
    return page.replaceAll(NONCE_PLACEHOLDER, nonce).replaceAll(MESSAGE_PLACEHOLDER, () => escaped);
  };
}

/** How long the gateway works on a change: consent checks the session, then authorization or consent makes the change. */
function toChangeLimitMs(config: Pick<Config, 'AUTHORIZATION_DEADLINE_MS' | 'CONSENT_DEADLINE_MS'>): number {
  const { AUTHORIZATION_DEADLINE_MS, CONSENT_DEADLINE_MS } = config;
  return CONSENT_DEADLINE_MS + Math.max(AUTHORIZATION_DEADLINE_MS, CONSENT_DEADLINE_MS);
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A text for an element, or for an attribute in quotes. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => ESCAPES[sign] ?? '');
}
