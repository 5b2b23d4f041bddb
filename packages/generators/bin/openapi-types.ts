/** Writes packages/sdk/src/generated/openapi.ts, the types of the gateway's openapi.json, by openapi-typescript. */
import { mkdir, writeFile } from 'node:fs/promises';
import openapiTypes, { astToString } from 'openapi-typescript';

const document = new URL('../../../services/gateway/openapi.json', import.meta.url);
const generated = new URL('../../sdk/src/generated/', import.meta.url);

const nodes = await openapiTypes(document, { immutable: true, alphabetize: true });
await mkdir(generated, { recursive: true });
await writeFile(
  new URL('openapi.ts', generated),
  `// Generated from openapi.json by packages/generators/bin/openapi-types.ts. Do not edit.\n${astToString(nodes)}`,
);
