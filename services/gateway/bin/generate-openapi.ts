/**
 * Writes services/gateway/openapi.json, the copy of `GET /openapi.json` in the repository. With `--check` it only compares: exits with 1 and
 * names the command to run when the copy is not current.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { toOpenApiDocument } from '../src/http/operations.ts';

const FILE = join(import.meta.dirname, '../openapi.json');

/** Stands for the address of a deployment, which serves the document with its own; only a sandbox has all of it. */
const PUBLIC_URL = 'https://health.example';

const current = `${JSON.stringify(toOpenApiDocument({ PUBLIC_URL, SANDBOX: true }), null, 1)}\n`;

function readCopy(): string | null {
  try {
    return readFileSync(FILE, 'utf8');
  } catch {
    return null;
  }
}

if (!process.argv.includes('--check')) {
  mkdirSync(dirname(FILE), { recursive: true });
  writeFileSync(FILE, current);
} else if (readCopy() === current) {
  console.log('services/gateway/openapi.json is fresh.');
} else {
  console.error(
    'services/gateway/openapi.json does not match the operations of the gateway. Run `pnpm gen:openapi`.',
  );
  process.exitCode = 1;
}
