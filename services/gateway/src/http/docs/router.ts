import { join } from 'node:path';
import { Router } from 'express';
import type { Exchange } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import { html } from '../pages/html.ts';
import { sendPage } from '../pages/page.ts';
import { mount } from '../routing.ts';
import { mountHashedFiles } from '../web/web-files.ts';
import { readDocuments, sendDocument } from './documents.ts';

/** Serves the documentation for partner developers: `/docs`, `/problems`, `/llms.txt`. All of it is public. */
export function createDocsRouter({ config }: Gateway): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const documents = readDocuments(config.DOCS_DIRECTORY, config.PUBLIC_URL);
  for (const [path, document] of documents) {
    const answer = (exchange: Exchange) => sendDocument(exchange, document);
    mount(router, path, { GET: answer, HEAD: answer });
  }
  mountHashedFiles(router, '/docs/assets', join(config.DOCS_DIRECTORY, 'assets'));
  if (documents.size === 0) mountExplanation(router);
  return router;
}

/** Answers for a documentation that is not built. */
function mountExplanation(router: Router): void {
  const content = html`<p>The documentation is not built on this server. Its programming interfaces work.</p>`;
  const answer = (exchange: Exchange) => sendPage(exchange, { en: { title: 'Not here', content } }, 503);
  for (const path of ['/docs', '/docs/:page', '/problems', '/problems/:code', '/llms.txt']) {
    mount(router, path, { GET: answer, HEAD: answer });
  }
}
