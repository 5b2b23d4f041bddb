/** Builds the web app into `dist`, with each file compressed beside itself. */
import { glob, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { build } from 'vite';

const root = resolve(import.meta.dirname, '..');
const output = join(root, 'dist');

await build({ root, configFile: join(root, 'vite.config.ts'), logLevel: 'warn' });
await compress();

async function compress(): Promise<void> {
  for await (const file of glob('**/*.{js,css,html,svg}', { cwd: output })) {
    const content = await readFile(join(output, file));
    await writeFile(join(output, `${file}.gz`), gzipSync(content, { level: 9 }));
    await writeFile(join(output, `${file}.br`), brotliCompressSync(content));
  }
}
