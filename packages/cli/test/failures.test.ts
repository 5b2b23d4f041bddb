import { expect, test } from '@jest/globals';
import { unavailable } from '@phds/service-kit/errors';
import { listImports } from '../src/commands/import.ts';
import { listReports } from '../src/commands/reports.ts';
import { runRestore } from '../src/commands/restore.ts';

type Surroundings = Parameters<typeof listImports>[1] & Parameters<typeof runRestore>[1];

/** Runs a command while no service answers. */
async function run(command: (surroundings: Surroundings) => Promise<number>) {
  const [output, errors]: [string[], string[]] = [[], []];
  const connect = () => {
    throw unavailable(new Error('away'));
  };
  const write = (texts: string[]) => ({ write: (text: string) => texts.push(text) });
  const code = await command({ connect, output: write(output), errors: write(errors) });
  return { code, document: JSON.parse(output.join('') || 'null'), errors: errors.join('') };
}

test('a command with --json prints a document with the reason when no service answers', async () => {
  const reasonOf = (service: string) => ({ error: `${service} does not answer.` });
  const restore = await run((parts) => runRestore({ action: 'status', json: true }, parts));
  expect([restore.code, restore.document]).toEqual([
    1,
    { consent: reasonOf('consent'), authorization: reasonOf('authorization') },
  ]);
  const imports = await run((parts) => listImports({ userId: 'ada', json: true }, parts));
  expect(imports.document).toEqual({ user: 'ada', ...reasonOf('health-data') });
  const reports = await run((parts) => listReports({ clientId: null, page: 1, json: true }, parts));
  expect(reports.document).toEqual(reasonOf('consent'));
});

test('a command that imports nothing does not say that an import is to be started again', async () => {
  const { errors } = await run((parts) => listImports({ userId: 'ada', json: false }, parts));
  expect(errors).toBe('health-data does not answer.\n');
});
