/**
 * Writes the pages of docs/partners that are made from the catalog and the OpenAPI document: `node packages/docs/bin/generate.ts`. With `--check` it writes nothing
 * and fails if one of them is stale.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toMetricsPage } from '../src/metrics-page.ts';
import { toProblemsDocument } from '../src/problem-pages.ts';
import { toReferencePages } from '../src/reference-pages.ts';
import { GUIDES_DIRECTORY } from '../src/source.ts';

const pages = { 'metrics.md': toMetricsPage(), 'problems.md': toProblemsDocument(), ...toReferencePages() };
const isStale = ([name, content]: [string, string]) => {
  const file = join(GUIDES_DIRECTORY, name);
  return !existsSync(file) || readFileSync(file, 'utf8') !== content;
};

const stale = Object.entries(pages).filter(isStale);
if (!process.argv.includes('--check')) {
  for (const [name, content] of stale) writeFileSync(join(GUIDES_DIRECTORY, name), content);
} else if (stale.length > 0) {
  console.error(`docs/partners/${stale.map(([name]) => name).join(', ')} is stale. Run: pnpm gen:docs`);
  process.exitCode = 1;
}
