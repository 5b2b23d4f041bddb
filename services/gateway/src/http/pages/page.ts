import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import type { Language } from '@phds/catalog/languages';
import type { Exchange } from '../exchange.ts';
import { type Headers, send } from '../respond.ts';
import { type Html, html } from './html.ts';
import { preferredLanguage } from './language.ts';

const STYLE = readFileSync(new URL('./page.css', import.meta.url));

const POLICY =
  "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const PRODUCT: Readonly<Record<Language, string>> = { en: 'Your health data', de: 'Ihre Gesundheitsdaten' };

interface PageText {
  readonly title: string;
  readonly content: Html;
}

/** A page in every language. */
export type Page = Readonly<Record<Language, PageText>>;

/** A page for developers, in English only. */
type DeveloperPage = Readonly<Record<'en', PageText>>;

/**
 * Sends a page with one message, in the language that the browser prefers. Its policy allows no external resources, frames, scripts
 * or inline styles.
 */
export function sendPage(
  { request, response }: Exchange,
  page: Page | DeveloperPage,
  status = 200,
  headers: Headers = {},
): void {
  const language = 'de' in page ? preferredLanguage(request) : 'en';
  if ('de' in page) response.vary('Accept-Language');
  const { title, content } = 'de' in page ? page[language] : page.en;
  const document = html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · ${PRODUCT[language]}</title>
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
  send(response, status, { ...own, ...headers }, document.markup);
}

/** The style sheet of these pages. */
export function sendStyle(response: ServerResponse): void {
  const headers = { 'Content-Type': 'text/css; charset=utf-8', 'Cache-Control': 'public, max-age=300' };
  send(response, 200, headers, STYLE);
}
