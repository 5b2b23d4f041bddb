/** Builds the documentation into `dist`. */
import { createHash } from 'node:crypto';
import { glob, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, extname, join, resolve } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { transform } from '@swc/core';
import { toSearchIndex } from '../src/search-index.ts';
import { readSite, renderFiles, toNavigation } from '../src/site.ts';

const root = resolve(import.meta.dirname, '..');
const output = join(root, 'dist');
const ASSETS = '/docs/assets';

await rm(output, { recursive: true, force: true });
await build();

async function build(): Promise<void> {
  const site = readSite();
  const style = await writeAsset('style.css', await readStyle());
  const library = replaceOnce(
    createRequire(import.meta.url).resolve('minisearch'),
    '/cjs/index.cjs',
    '/es/index.js',
  );
  const minisearch = await writeAsset('minisearch.js', await readScript(library));
  const options = await writeAsset(
    'search-options.js',
    await readScript(join(root, 'src/search-options.ts')),
  );
  const source = await readScript(join(root, 'browser/page.ts'));
  const half = replaceOnce(source, '"minisearch"', `"${toSibling(minisearch)}"`);
  const script = replaceOnce(half, '"../src/search-options.ts"', `"${toSibling(options)}"`);
  const assets = {
    style,
    script: await writeAsset('page.js', script),
    index: await writeAsset('index.json', toSearchIndex(site)),
  };
  for (const [name, content] of renderFiles(site, { navigation: toNavigation(site), assets })) {
    await mkdir(dirname(join(output, name)), { recursive: true });
    await writeFile(join(output, name), content);
  }
}

/** Replaces the only occurrence. Throws when there is none or more than one. */
function replaceOnce(text: string, from: string, to: string): string {
  const parts = text.split(from);
  if (parts.length !== 2) throw new Error(`Expected ${from} once, found it ${parts.length - 1} times.`);
  return parts.join(to);
}

/** The style sheets in the order of their names. */
async function readStyle(): Promise<string> {
  const files = await Array.fromAsync(glob('browser/style/*.css', { cwd: root }));
  const texts = await Promise.all(files.toSorted().map((file) => readFile(join(root, file), 'utf8')));
  return texts.join('\n');
}

/** A script as browsers run it: without types, and small. */
async function readScript(file: string): Promise<string> {
  const { code } = await transform(await readFile(file, 'utf8'), {
    isModule: true,
    minify: true,
    jsc: { target: 'es2022', parser: { syntax: 'typescript' }, minify: { compress: true, mangle: true } },
  });
  return code;
}

/** Writes a file with a hash of its content in its name, and compressed beside it. Returns its address. */
async function writeAsset(name: string, content: string): Promise<string> {
  const ending = extname(name);
  const hash = createHash('sha256').update(content).digest('base64url').slice(0, 10);
  const full = `${name.slice(0, -ending.length)}-${hash}${ending}`;
  const file = join(output, 'assets', full);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content);
  await writeFile(`${file}.gz`, gzipSync(content, { level: 9 }));
  await writeFile(`${file}.br`, brotliCompressSync(content));
  return `${ASSETS}/${full}`;
}

/** The address of an asset for another one. */
function toSibling(address: string): string {
  return address.replace(ASSETS, '.');
}
