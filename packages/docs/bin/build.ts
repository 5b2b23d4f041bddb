/** Builds the documentation into `dist`: VitePress renders the guides, and Scalar shows the OpenAPI document. */
import { createHash } from 'node:crypto';
import { copyFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { build } from 'vitepress';
import { toLlmsText, toServedMarkdown, toSite, toVitePress } from '../src/site.ts';

const root = resolve(import.meta.dirname, '..');
const pages = join(root, 'pages');
/** The result is there at once when all of it is, so that a gateway can serve it from then on. */
const unfinished = join(root, 'dist.unfinished');
const output = join(root, 'dist');

await Promise.all([pages, unfinished].map((directory) => rm(directory, { recursive: true, force: true })));
const site = toSite();
for (const [path, markdown] of site) await write(join(pages, `${path}.md`), toVitePress(markdown));
await build(root, { outDir: unfinished });
for (const [path, markdown] of site) await write(join(unfinished, `${path}.md`), toServedMarkdown(markdown));
await write(join(unfinished, 'llms.txt'), toLlmsText());
await addReference();
await rm(output, { recursive: true, force: true });
await rename(unfinished, output);

/** Adds the page of the reference, with what it loads beside the pages' assets. */
async function addReference(): Promise<void> {
  const scalar = join(root, 'node_modules/@scalar/api-reference');
  const { version } = JSON.parse(await readFile(join(scalar, 'package.json'), 'utf8'));
  await copyFile(join(scalar, 'dist/browser/standalone.js'), join(unfinished, `assets/scalar-${version}.js`));
  const colors = await readFile(join(root, '../web/src/style/colors.css'), 'utf8');
  const style = await writeAsset(
    'reference',
    'css',
    colors + (await readFile(join(root, 'reference/style.css'), 'utf8')),
  );
  const script = await writeAsset('reference', 'js', await readFile(join(root, 'reference/page.js'), 'utf8'));
  const page = await readFile(join(root, 'reference/page.html'), 'utf8');
  const filled = page
    .replace('reference.css', style)
    .replace('scalar.js', `scalar-${version}.js`)
    .replace('reference.js', script);
  await write(join(unfinished, 'reference.html'), filled);
}

/** Writes an asset with a hash of its content in its name, which it returns. */
async function writeAsset(name: string, ending: string, content: string): Promise<string> {
  const hash = createHash('sha256').update(content).digest('base64url').slice(0, 8);
  await write(join(unfinished, `assets/${name}.${hash}.${ending}`), content);
  return `${name}.${hash}.${ending}`;
}

async function write(file: string, content: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content);
}
