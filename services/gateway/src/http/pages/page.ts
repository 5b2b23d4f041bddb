import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { send } from '../respond.ts';
import { type Html, html } from './html.ts';

const STYLE = readFileSync(new URL('./approve.css', import.meta.url));
const SCRIPT = readFileSync(new URL('./approve.js', import.meta.url));

const HOST = /^[A-Za-z0-9.-]+(:\d+)?$/;

export interface PageOptions {
  readonly status?: number;
  /** Host that a form of the page may lead to by a redirect; browsers hold redirects against `form-action` too. */
  readonly formHost?: string;
}

/** Sends a page: nothing from elsewhere, no frames, nothing inline. */
export function sendPage(
  response: ServerResponse,
  title: string,
  content: Html,
  { status = 200, formHost = '' }: PageOptions = {},
): void {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="stylesheet" href="/approve.css">
<script src="/approve.js" defer></script>
</head>
<body><main>
<h1>${title}</h1>
${content}
</main></body>
</html>
`;
  const headers = {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': toPolicy(formHost),
    'Cross-Origin-Opener-Policy': 'same-origin',
  };
  send(response, status, headers, page.markup);
}

function toPolicy(formHost: string): string {
  const targets = HOST.test(formHost) ? ` https://${formHost} http://${formHost}` : '';
  return [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    "connect-src 'self'",
    `form-action 'self'${targets}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** The style sheet and the script that pages refer to. */
export function sendAsset(response: ServerResponse, name: 'style' | 'script'): void {
  const type = name === 'style' ? 'text/css; charset=utf-8' : 'text/javascript; charset=utf-8';
  const headers = { 'Content-Type': type, 'Cache-Control': 'public, max-age=300' };
  send(response, 200, headers, name === 'style' ? STYLE : SCRIPT);
}
