import { PROBLEM_CODES, PROBLEMS, type ProblemCode, toProblemType } from '@phds/catalog/problems';
import type { Router } from 'express';
import type { Exchange } from '../exchange.ts';
import { html } from '../pages/html.ts';
import { sendPage } from '../pages/page.ts';
import { mount } from '../routing.ts';

const INDEX = '/problems';
const HEADERS = { 'Cache-Control': 'public, max-age=300' } as const;

// For developers, in English like the errors themselves.

/** `GET /problems` and one page for each problem `type`: what the code means and what to do. */
export function mountProblemPages(router: Router): void {
  mountPage(router, INDEX, 'Errors', toIndex());
  for (const code of PROBLEM_CODES) mountPage(router, toProblemType(code), code, toContent(code));
}

function mountPage(router: Router, path: string, title: string, content: ReturnType<typeof html>): void {
  const answer = (exchange: Exchange) => sendPage(exchange, { en: { title, content } }, 200, HEADERS);
  mount(router, path, { GET: answer, HEAD: answer });
}

function toIndex() {
  const rows = PROBLEM_CODES.map(
    (code) => html`<tr><td><a href="${toProblemType(code)}">${code}</a></td><td>${toStatuses(code)}</td></tr>
`,
  );
  return html`<p>The body of every error has one of these codes. Outside of <code>/oauth</code>, its <code>type</code> is the address of the
page about it.</p>
<table><thead><tr><th scope="col">Code</th><th scope="col">HTTP status</th></tr></thead><tbody>
${rows}</tbody></table>`;
}

function toContent(code: ProblemCode) {
  const { meaning, action } = PROBLEMS[code];
  return html`<p>HTTP status ${toStatuses(code)}</p>
<h2>What it means</h2>
<p>${toProse(meaning)}</p>
<h2>What to do</h2>
<p>${toProse(action)}</p>
<p><a class="action" href="${INDEX}">All errors</a></p>`;
}

function toStatuses(code: ProblemCode): string {
  return PROBLEMS[code].statuses.join(', ');
}

/** Renders text between backticks as `code`. */
function toProse(text: string) {
  return text.split('`').map((part, index) => (index % 2 === 0 ? html`${part}` : html`<code>${part}</code>`));
}
