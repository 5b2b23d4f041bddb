import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { type Headers, send } from '../respond.ts';
import { type Html, html } from './html.ts';

const STYLE = readFileSync(new URL('./page.css', import.meta.url));

const POLICY =
  "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Sends a page with one message. Its policy allows no external resources, frames, scripts or inline styles. */
export function sendPage(
  response: ServerResponse,
  title: string,
  content: Html,
  status = 200,
  headers: Headers = {},
): void {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="stylesheet" href="/page.css">
</head>
<body><main>
<h1>${title}</h1>
${content}
</main></body>
</html>
`;
  const own = {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': POLICY,
    'Cross-Origin-Opener-Policy': 'same-origin',
  };
  send(response, status, { ...own, ...headers }, page.markup);
}

/** The style sheet of these pages. */
export function sendStyle(response: ServerResponse): void {
  const headers = { 'Content-Type': 'text/css; charset=utf-8', 'Cache-Control': 'public, max-age=300' };
  send(response, 200, headers, STYLE);
}
