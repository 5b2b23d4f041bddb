import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { html } from '../pages/html.ts';
import { sendPage } from '../pages/page.ts';
import { send } from '../respond.ts';

// Same name as in packages/web/vite.config.ts.
const NONCE_PLACEHOLDER = 'CSP_NONCE';

function toHeaders(nonce: string) {
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': [
      "default-src 'none'",
      "script-src 'self'",
      `style-src 'self' 'nonce-${nonce}'`,
      "img-src 'self'",
      "connect-src 'self'",
      // Forms are submitted by script only.
      "form-action 'none'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    'Cross-Origin-Opener-Policy': 'same-origin',
  };
}

/** Reads the built page once and returns a function that sends it. If it is not built, the function sends an explanation. */
export function loadWebPage(directory: string): (response: ServerResponse) => void {
  const file = join(directory, 'index.html');
  if (!existsSync(file)) return (response) => sendPage(response, 'Not here', NOT_BUILT, 503);
  const page = readFileSync(file, 'utf8');
  return (response) => {
    const nonce = randomBytes(16).toString('base64');
    send(response, 200, toHeaders(nonce), page.replaceAll(NONCE_PLACEHOLDER, nonce));
  };
}

const NOT_BUILT = html`<p>The pages for people are not built on this server. Its programming interfaces work.</p>`;
