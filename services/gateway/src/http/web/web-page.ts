import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../config.ts';
import type { Exchange } from '../exchange.ts';
import { html } from '../pages/html.ts';
import { type Page, sendPage } from '../pages/page.ts';
import { toScriptPageHeaders } from '../pages/script-policy.ts';
import { send } from '../respond.ts';

// Same name as in packages/web/vite.config.ts.
const NONCE_PLACEHOLDER = 'CSP_NONCE';
// Same name as in packages/web/index.html.
const CHANGE_LIMIT_PLACEHOLDER = 'CHANGE_LIMIT_MS';

function toHeaders(nonce: string) {
  return { 'Content-Type': 'text/html; charset=utf-8', ...toScriptPageHeaders(nonce) };
}

/** How long the gateway works on a change: consent checks the session, then authorization or consent makes the change. */
export function toChangeLimitMs(
  config: Pick<Config, 'AUTHORIZATION_DEADLINE_MS' | 'CONSENT_DEADLINE_MS'>,
): number {
  const { AUTHORIZATION_DEADLINE_MS, CONSENT_DEADLINE_MS } = config;
  return CONSENT_DEADLINE_MS + Math.max(AUTHORIZATION_DEADLINE_MS, CONSENT_DEADLINE_MS);
}

/**
 * Reads the built page once and returns a function that sends it, with status 404 for an address that the app does not know. If the
 * page is not built, the function sends an explanation.
 */
export function loadWebPage(
  directory: string,
  changeLimitMs: number,
): (exchange: Exchange, status?: 200 | 404) => void {
  const file = join(directory, 'index.html');
  if (!existsSync(file)) return (exchange) => sendPage(exchange, NOT_BUILT, 503);
  const page = readFileSync(file, 'utf8').replaceAll(CHANGE_LIMIT_PLACEHOLDER, String(changeLimitMs));
  return ({ response }, status = 200) => {
    const nonce = randomBytes(16).toString('base64');
    send(response, status, toHeaders(nonce), page.replaceAll(NONCE_PLACEHOLDER, nonce));
  };
}

const NOT_BUILT: Page = {
  en: {
    title: 'Not here',
    content: html`<p>The pages for people are not built on this server. Its programming interfaces work.</p>`,
  },
  de: {
    title: 'Nicht hier',
    content: html`<p>Die Seiten für Personen sind auf diesem Server nicht gebaut. Seine Programmierschnittstellen funktionieren.</p>`,
  },
};
