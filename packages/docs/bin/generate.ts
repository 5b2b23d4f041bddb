/** Writes the pages of docs/partners that are made from the catalog. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toMetricsPage } from '../src/metrics-page.ts';
import { toProblemsPage } from '../src/problem-pages.ts';
import { GUIDES_DIRECTORY } from '../src/source.ts';

const pages = { 'metrics.md': toMetricsPage(), 'problems.md': toProblemsPage() };
for (const [name, content] of Object.entries(pages)) writeFileSync(join(GUIDES_DIRECTORY, name), content);
