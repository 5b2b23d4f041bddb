import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { METRICS } from '@phds/catalog/metrics';
import { importFiles } from '@phds/cli/commands/import';
import { openIngestion } from '@phds/cli/connection';
import { IMPORTERS } from '@phds/cli/importers/all';
import { createGenerateCommand, generate } from '@phds/local-stack/phds/generate';
import { type SharedStack, useSharedStack } from '@phds/running-system/shared-stack';
import { parseDay } from '@phds/synthetic/calendar';
import { ADA } from '@phds/synthetic/people/ada';
import { TRAVELLER } from '@phds/synthetic/people/traveller';
import type { Person } from '@phds/synthetic/person';
import { endOfDay, openTimeline, readingsIn } from '@phds/synthetic/timeline';
import { isInFhir } from '@phds/synthetic/write/fhir';
import { type Format, topicsOf } from '@phds/synthetic/write/formats';
import pg from 'pg';

let stack: SharedStack;
let directory: string;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  stack = await useSharedStack();
  directory = await mkdtemp(join(tmpdir(), 'phds-round-trip-'));
  env = {
    HEALTH_DATA_ADDRESS: stack.rpcAddresses['health-data'],
    SERVICE_PRIVATE_KEY: await readFile(stack.keys.servicePrivateKeys.importer, 'utf8'),
  };
});
afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
});

const UNTIL = '2026-04-08';
const DAYS = 10;

const surroundings = () => {
  const errors: string[] = [];
  const write = (text: string) => errors.push(text);
  return {
    output: { write: () => undefined },
    errors: { write },
    connect: () => openIngestion(env),
    said: errors,
  };
};

async function runGenerate(person: Person, target: { format: Format; out: string } | { user: string }) {
  const around = surroundings();
  let code: unknown;
  const command = createGenerateCommand(Date.now, async (args) => {
    code = await generate(args, around);
  });
  const options = { person: person.id, days: String(DAYS), until: UNTIL, ...target };
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
  await command.exitOverride().parseAsync(args, { from: 'user' });
  expect([code, around.said]).toEqual([0, []]);
}

async function runImport(format: Format, path: string, userId: string) {
  const importer = IMPORTERS.find((each) => each.format === (format === 'ndjson' ? 'fhir' : format));
  if (importer === undefined) throw new Error(`no importer for ${format}`);
  const args = { importer, paths: [path], userId, patient: null, again: false, json: true };
  expect(await importFiles(args, surroundings())).toBe(0);
}

/** Every stored reading of a user, straight from the table. */
async function readStored(userId: string): Promise<string[]> {
  const { ownerUrl, schema } = stack.databases['health-data'];
  const client = new pg.Client({ connectionString: ownerUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ line: string }>(
      `SELECT concat_ws(' ', type, extract(epoch FROM start_at)::bigint, extract(epoch FROM end_at)::bigint, value, source) AS line
       FROM "${schema}".reading WHERE user_id = $1`,
      [userId],
    );
    return rows.map(({ line }) => line).toSorted();
  } finally {
    await client.end();
  }
}

const keys = new Map<string, string>(METRICS.map(({ name, key }) => [name, key]));

function listExpected(person: Person, format: Format): string[] {
  const timeline = openTimeline(person, {
    until: endOfDay(person, parseDay(UNTIL) ?? 0),
    extent: { days: DAYS },
    topics: topicsOf(format),
  });
  const isFhir = format === 'fhir' || format === 'ndjson';
  return [...readingsIn(timeline)]
    .filter((reading) => !isFhir || isInFhir(reading))
    .map(({ type, start, end, value, source }) =>
      [keys.get(type), start / 1000, end / 1000, value, isFhir ? 'ehr' : source].join(' '),
    )
    .toSorted();
}

describe.each([ADA, TRAVELLER])('the generated data of $id', (person) => {
  test.each<Format>(['apple', 'fhir', 'ndjson', 'csv'])(
    'equals the stored data after writing as %s and importing, even twice',
    async (format) => {
      const out = join(directory, `${person.id}.${format}`);
      await runGenerate(person, { format, out });
      const user = `${person.id}-${format}`;
      const expected = listExpected(person, format);
      expect(expected.length).toBeGreaterThan(1_000);
      await runImport(format, out, user);
      expect(await readStored(user)).toEqual(expected);
      await runImport(format, out, user);
      expect(await readStored(user)).toEqual(expected);
    },
  );

  test('equals the stored data after sending to a user', async () => {
    await runGenerate(person, { user: `${person.id}-sent` });
    expect(await readStored(`${person.id}-sent`)).toEqual(listExpected(person, 'csv'));
  });
});
