import { writeFileSync } from 'node:fs';
import type { Options } from '../options.ts';
import { COSTS_FILE, readCosts } from './costs.ts';
import { measureCosts, writeCosts } from './measure-costs.ts';
import { PAGE_FILE, renderPage } from './page.ts';

/** Measures the costs of all kinds of work unless told not to, and writes them and the page that is computed from them. */
export async function benchCapacity(options: Options): Promise<string> {
  if (!options.computed) writeCosts(COSTS_FILE, await measureCosts(options));
  writeFileSync(PAGE_FILE, renderPage(readCosts()));
  return `written: ${COSTS_FILE} and ${PAGE_FILE}`;
}
