import { readFileSync } from 'node:fs';
import type { ProblemCode } from '@phds/catalog/problems';

/** A request and the answer that a running service gave, shortened to what matters. */
export interface ProblemExample {
  readonly request: string;
  readonly answer: string;
}

/** Written by `pnpm record:examples`. */
export const EXAMPLES_FILE = new URL('../examples/problems.json', import.meta.url);

const examples = JSON.parse(readFileSync(EXAMPLES_FILE, 'utf8')) as Partial<
  Record<ProblemCode, ProblemExample>
>;

/** The recorded example of a code; null if none was recorded. */
export function findExample(code: ProblemCode): ProblemExample | null {
  return examples[code] ?? null;
}
