import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { LANGUAGES, type Language } from '@phds/catalog/languages';
import type { Request } from 'express';
import type { Exchange } from '../exchange.ts';
import { type Headers, send } from '../respond.ts';

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

/** The language that the browser prefers (`Accept-Language`); English if these pages have none of its languages. */
function preferredLanguage(request: Request): Language {
  return LANGUAGES.find((language) => language === request.acceptsLanguages(...LANGUAGES)) ?? 'en';
}

/** Whether the client prefers HTML over JSON, as browsers do. Without a preference it gets JSON. */
export function wantsHtml(request: Request): boolean {
  return request.accepts(['json', 'html']) === 'html';
}

/**
 * The header fields of a page with scripts of ours: everything comes from this origin, and forms are submitted by script only. `nonce`
 * admits style elements.
 */
export function toScriptPageHeaders(nonce?: string) {
  return {
    'Content-Security-Policy': [
      "default-src 'none'",
      "script-src 'self'",
      nonce === undefined ? "style-src 'self'" : `style-src 'self' 'nonce-${nonce}'`,
      "img-src 'self'",
      "connect-src 'self'",
      "form-action 'none'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    'Cross-Origin-Opener-Policy': 'same-origin',
  } as const;
}

/** Markup that needs no escaping. */
export class Html {
  readonly markup: string;

  constructor(markup: string) {
    this.markup = markup;
  }
}

type Content = string | Html | readonly Html[];

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Builds markup. Inserted values are escaped unless they are `Html`. Attribute values must be quoted. */
export function html(strings: TemplateStringsArray, ...contents: readonly Content[]): Html {
  const parts = strings.map((text, index) => text + toMarkup(contents[index] ?? ''));
  return new Html(parts.join(''));
}

function toMarkup(content: Content): string {
  if (content instanceof Html) return content.markup;
  if (typeof content === 'string') return content.replaceAll(/[&<>"']/g, (sign) => ESCAPES[sign] ?? '');
  return content.map(({ markup }) => markup).join('');
}
