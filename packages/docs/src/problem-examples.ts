import { readFileSync } from 'node:fs';
import type { ProblemCode } from '@phds/catalog/problems';
import { type Recorded, type RenderedExample, renderExample } from './recorded.ts';

/** Written by `pnpm record:examples`: one exchange for each error code. */
const FILE = new URL('../examples/problems.json', import.meta.url);

/** The recorded exchanges by code. */
export const problems = JSON.parse(readFileSync(FILE, 'utf8')) as Readonly<
  Partial<Record<ProblemCode, Recorded>>
>;

/** The recorded example of a code; null if none was recorded. */
export function findExample(code: ProblemCode): RenderedExample | null {
  const example = problems[code];
  return example === undefined ? null : renderExample(example);
}
