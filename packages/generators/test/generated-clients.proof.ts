import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

const run = promisify(execFile);
const directory = resolve(import.meta.dirname, '..');
const document = resolve(directory, '../../services/gateway/openapi.json');
const program = (name: string) => join(directory, 'node_modules/.bin', name);

const GENERATORS = {
  'openapi-typescript': [document, '-o', 'client.ts'],
  orval: ['--input', document, '--output', 'client.ts', '--client', 'fetch'],
  'openapi-ts': ['-i', document, '-o', 'client', '-c', '@hey-api/client-fetch'],
};

test.each(Object.entries(GENERATORS))(
  'a client that %s makes from the OpenAPI document compiles',
  async (name, parameters) => {
    // Inside of the package, where its compiler finds nothing but the generated files.
    const cwd = await mkdtemp(join(directory, '.client-'));
    try {
      const lib = ['ES2023', 'DOM', 'DOM.Iterable'];
      const strict = { strict: true, noEmit: true, skipLibCheck: true, types: [], target: 'ES2023', lib };
      const compilerOptions = { ...strict, module: 'ESNext', moduleResolution: 'bundler' };
      await writeFile(
        join(cwd, 'tsconfig.json'),
        JSON.stringify({ compilerOptions, include: ['client.ts', 'client'] }),
      );
      await run(program(name), parameters, { cwd });
      const { stdout } = await run(program('tsc'), ['-p', '.'], { cwd }).catch((error) => error);
      expect(stdout).toBe('');
    } finally {
      await rm(cwd, { recursive: true });
    }
  },
);
