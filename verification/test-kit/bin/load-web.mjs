/** Lets the workers load the sources of the web app, which its build transforms otherwise; see run-file.mjs. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const SWC = {
  jsc: {
    parser: { syntax: 'typescript', tsx: true },
    target: 'esnext',
    transform: { react: { runtime: 'automatic' } },
  },
  sourceMaps: 'inline',
};

// Loaded by the first file that needs it, because most workers need none.
const lazily = (load) => {
  let loaded;
  return () => (loaded ??= load());
};
const swc = lazily(() => require('@swc/core'));
const texts = lazily(() => require('../../../packages/web/bin/compile-texts.ts'));

const read = (url) => readFileSync(fileURLToPath(url), 'utf8');
const toModule = (value) => ({
  format: 'module',
  source: `export default ${JSON.stringify(value)};`,
  shortCircuit: true,
});
const namesOfClasses = (css) =>
  Object.fromEntries([...css.matchAll(/\.([a-z][\w-]*)/gi)].map(([, name]) => [name, name]));

/** A load hook for JSX, CSS modules (an object of the class names), pictures and the catalogues of texts. */
export function loadWeb(url, context, next) {
  if (url.endsWith('.tsx')) {
    const { code } = swc().transformSync(read(url), { ...SWC, filename: fileURLToPath(url) });
    return { format: 'module', source: code, shortCircuit: true };
  }
  if (url.endsWith('.css')) return toModule(namesOfClasses(read(url)));
  if (url.endsWith('.svg')) return toModule(url);
  if (url.endsWith('.json') && url.includes('/packages/web/src/texts/') && texts().TEXTS.test(url)) {
    return { format: 'json', source: texts().compileTexts(read(url)), shortCircuit: true };
  }
  return next(url, context);
}
