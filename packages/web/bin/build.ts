/** Builds the web app into `dist`, with each file compressed beside itself. Does nothing when it is built already. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { glob, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { build } from 'vite';

const root = resolve(import.meta.dirname, '..');
const output = join(root, 'dist');
const stamp = join(output, '.built-from');
// Everything that the result depends on: the app, the catalog it shows, and the versions of what it is built with.
const SOURCES = ['src/**', 'index.html', 'vite.config.ts', '../catalog/src/**', '../../pnpm-lock.yaml'];

const fingerprint = await toFingerprint();
if (!existsSync(stamp) || (await readFile(stamp, 'utf8')) !== fingerprint) {
  await build({ root, configFile: join(root, 'vite.config.ts'), logLevel: 'warn' });
  await compress();
  await writeFile(stamp, fingerprint);
  console.log('web app built: packages/web/dist');
}

async function toFingerprint(): Promise<string> {
  const hash = createHash('sha256');
  const paths = await Array.fromAsync(glob(SOURCES, { cwd: root, withFileTypes: true }));
  const files = paths.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  for (const file of files.toSorted()) hash.update(file.slice(root.length)).update(await readFile(file));
  return hash.digest('hex');
}

async function compress(): Promise<void> {
  for await (const file of glob('**/*.{js,css,html,svg}', { cwd: output })) {
    const content = await readFile(join(output, file));
    await writeFile(join(output, `${file}.gz`), gzipSync(content, { level: 9 }));
    await writeFile(join(output, `${file}.br`), brotliCompressSync(content));
  }
}
