import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import express from 'express';
import { showPage } from './page.ts';

const own = dirname(import.meta.dirname);
const sdk = dirname(fileURLToPath(import.meta.resolve('@phds/sdk')));
const files = [
  ...['/browser/main.ts', '/src/chart.ts', '/src/page.ts'].map((path) => [path, join(own, path)] as const),
  ...readdirSync(sdk).flatMap((name) =>
    name.endsWith('.ts') ? [[`/sdk/${name}`, join(sdk, name)] as const] : [],
  ),
];

/** Sends the files of the page, and knows no token. A bundler would make one script of them. */
export function createPageServer(baseUrl: string, clientId: string) {
  const script = `<script type="module" src="/browser/main.ts" data-base-url="${baseUrl}" data-client-id="${clientId}"></script>`;
  const app = express();
  app.get('/', (_, response) => {
    // No foreign script may use the key.
    const policy = `default-src 'self'; connect-src ${baseUrl}; style-src 'unsafe-inline'; frame-ancestors 'none'`;
    response.set('Content-Security-Policy', policy).send(showPage('', script));
  });
  for (const [path, file] of files) {
    const code = stripTypeScriptTypes(readFileSync(file, 'utf8')).replaceAll(
      `'@phds/sdk'`,
      `'/sdk/index.ts'`,
    );
    app.get(path, (_, response) => response.type('js').send(code));
  }
  return app;
}
