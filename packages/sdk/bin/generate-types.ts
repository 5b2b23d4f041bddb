/**
 * Writes src/generated/openapi.ts, the types of openapi.json, by openapi-typescript. With `--check` it writes nothing and exits with 1
 * when the file is not the current output.
 */
import { readFile, writeFile } from 'node:fs/promises';
import openapiTypes, { astToString } from 'openapi-typescript';

const document = new URL('../openapi.json', import.meta.url);
const generated = new URL('../src/generated/openapi.ts', import.meta.url);

const nodes = await openapiTypes(document, { immutable: true, alphabetize: true });
const fresh = `// Generated from openapi.json by bin/generate-types.ts. Do not edit.\n${astToString(nodes)}`;

if (!process.argv.includes('--check')) await writeFile(generated, fresh);
else if ((await readFile(generated, 'utf8').catch(() => '')) !== fresh) {
  console.error(
    'packages/sdk/src/generated/openapi.ts does not match openapi.json. Run `pnpm gen:openapi` and commit the result.',
  );
  process.exitCode = 1;
} else console.log('packages/sdk/src/generated/openapi.ts is fresh.');
