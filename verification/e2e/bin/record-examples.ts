/**
 * Records the examples of the documentation, `packages/docs/examples`, at a whole service that it starts: `pnpm record:examples`. Then
 * `pnpm generate` writes them into docs/partners.
 */
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { startRunningStack } from '@phds/running-system/running-stack';
import { recordAnswers } from '../src/examples/answers.ts';
import { recordProblems } from '../src/examples/problems.ts';

await using stack = await startRunningStack({ seed: true, sandbox: true });
await write('answers.json', await recordAnswers(stack));
await write('problems.json', await recordProblems(stack));

async function write(name: string, examples: ReadonlyMap<string, unknown>): Promise<void> {
  const file = fileURLToPath(new URL(`../../../packages/docs/examples/${name}`, import.meta.url));
  const sorted = [...examples].toSorted(([one], [other]) => (one < other ? -1 : 1));
  await writeFile(file, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`);
  console.log(`${examples.size} examples: packages/docs/examples/${name}`);
}
