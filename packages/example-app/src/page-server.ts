import { globSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';
import express from 'express';
import { showPage } from './page.ts';

const OWN = dirname(import.meta.dirname);
const SDK = 'node_modules/@phds/sdk/src';

/** Sends the files of the page, and knows no token. A bundler would make one script of them. */
export function createPageServer(baseUrl: string, clientId: string) {
  const script = `<script type="module" src="/browser/main.ts" data-base-url="${baseUrl}" data-client-id="${clientId}"></script>`;
  const app = express();
  app.get('/', (_, response) => {
    // No foreign script may use the key.
    const policy = `default-src 'self'; connect-src ${baseUrl}; style-src 'unsafe-inline'; frame-ancestors 'none'`;
    response.set('Content-Security-Policy', policy).send(showPage('', script));
  });
  for (const file of globSync(['browser/*.ts', 'src/{page,chart}.ts', `${SDK}/*.ts`], { cwd: OWN })) {
    const code = stripTypeScriptTypes(readFileSync(join(OWN, file), 'utf8'));
    const linked = code.replaceAll("'@phds/sdk'", `'/${SDK}/index.ts'`);
    app.get(`/${file}`, (_, response) => response.type('js').send(linked));
  }
  return app;
}
