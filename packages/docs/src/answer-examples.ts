import { readFileSync } from 'node:fs';
import { type Recorded, type RenderedExample, renderExample } from './recorded.ts';

/** Written by `pnpm record:examples`: one exchange for each operation. */
const FILE = new URL('../examples/answers.json', import.meta.url);

/** The recorded exchanges by operation. */
export const answers = JSON.parse(readFileSync(FILE, 'utf8')) as Readonly<Record<string, Recorded>>;

/** The recorded exchange of an operation; null if there is none. */
export function findAnswer(operationId: string): RenderedExample | null {
  const example = answers[operationId];
  return example === undefined ? null : renderExample(example);
}
