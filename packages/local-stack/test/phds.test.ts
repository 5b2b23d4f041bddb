import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openIngestion } from '@phds/cli/connection';
import { type FilesOfTest, openFilesOfTest } from '@phds/test-kit/files-of-test';
import { CommanderError } from 'commander';
import { type FakeIngestion, startFakeIngestion } from '../../cli/test/fake-ingestion.ts';
import type { StackDescription } from '../src/data-directory.ts';
import { createGenerateCommand, generate } from '../src/phds/generate.ts';
import { findLocalSettings } from '../src/phds/local-settings.ts';

const NOW = Date.parse('2026-03-31T10:00:00Z');

let service: FakeIngestion;
let files: FilesOfTest;

beforeEach(async () => {
  service = await startFakeIngestion();
  files = openFilesOfTest();
});

afterEach(async () => {
  files[Symbol.dispose]();
  await service[Symbol.asyncDispose]();
});

type Values = Readonly<Record<string, string | undefined>>;

/** Runs `phds generate` with these options. */
async function run(values: Values, env = service.env) {
  const [output, errors]: [string[], string[]] = [[], []];
  let code: unknown;
  const command = createGenerateCommand(
    () => NOW,
    async (args) => {
      code = await generate(args, {
        output: { write: (text) => output.push(text) },
        errors: { write: (text) => errors.push(text) },
        connect: () => openIngestion(env),
      });
    },
  );
  command.exitOverride().configureOutput({ writeErr: (text) => void errors.push(text) });
  const args = Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, value],
  );
  try {
    await command.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    code = 'wrong arguments';
  }
  return { code, output: output.join(''), errors: errors.join('') };
}

describe('generating', () => {
  test('sends to a user, and sending again changes nothing', async () => {
    const values = { person: 'ada', days: '30', user: 'bob' };
    const { code, output } = await run(values);
    expect(code).toBe(0);
    expect(output).toBe(
      `ada, seed 1, 2026-03-01 to 2026-03-30: ${service.readings.size} readings and ${service.records.size} records sent to bob\n`,
    );
    expect(service.readings.size).toBeGreaterThan(5_000);
    expect(service.profiles).toMatchObject([
      { userId: 'bob', name: 'Ada Sommer', timeZone: 'Europe/Berlin', bloodType: 'A+' },
    ]);
    const [readings, records] = [service.readings.size, service.records.size];
    await run(values);
    expect([service.readings.size, service.records.size]).toEqual([readings, records]);
  });

  test('reports when health-data is unavailable or the file cannot be written', async () => {
    service.failures = 1;
    const away = await run({ person: 'sparse', user: 'bob' });
    expect(away.code).toBe(1);
    expect(away.errors).toContain('health-data does not answer.');
    const out = join(files.directory, 'nowhere', 'data.csv');
    const unwritten = await run({ person: 'sparse', format: 'csv', out });
    expect(unwritten.code).toBe(1);
    expect(unwritten.errors).toContain('ENOENT');
    expect(existsSync(out)).toBe(false);
  });
});

describe('wrong arguments', () => {
  const right = { person: 'ada', format: 'csv', out: '/data.csv' };

  test.each<[string, Values]>([
    ['Allowed choices are ada, grace, sparse, empty, traveller, heavy.', { ...right, person: 'eve' }],
    ['--format is missing (or name a --user)', { person: 'ada' }],
    ["option '--out <file>' argument '' is invalid", { ...right, out: '' }],
    ["option '--user <id>' cannot be used with option '--format <format>'", { ...right, user: 'bob' }],
    ['It must be a whole number.', { ...right, seed: '-1' }],
    ["option '--days <n>' cannot be used with option '--records <n>'", { ...right, days: '3', records: '3' }],
    ['--records is for people who are measured', { ...right, person: 'sparse', records: '3' }],
    ['It must be a date such as 2026-03-31.', { ...right, until: '31.3.2026' }],
    ['--until must be a past day from 1950 on', { ...right, until: '2026-03-31' }],
  ])('%s', async (message, values) => {
    const { code, errors } = await run(values);
    expect(code).toBe('wrong arguments');
    expect(errors).toContain(message);
  });
});

const STACK: StackDescription = {
  process: '1',
  startedAt: '2026-03-01T12:00:00.000Z',
  gatewayUrls: [],
  identityProviderUrl: '',
  rpcAddresses: { authorization: 'localhost:1', consent: 'localhost:2', 'health-data': 'localhost:3' },
  probeUrls: { authorization: '', consent: '', 'health-data': '' },
  gatewayProbeUrls: [],
  keys: { directory: '/keys', importerPrivateKey: '/keys/importer.pem', servicePublicKeys: '' },
  logs: '',
};

describe('the settings of a command in a checkout', () => {
  test.each([
    ['import', ['HEALTH_DATA_ADDRESS', 'SERVICE_PRIVATE_KEY_FILE']],
    [
      'records',
      [
        'CONSENT_ADDRESS',
        'OPERATOR_NAME',
        'SERVICE_PRIVATE_KEY_FILE',
        'RECORDS_DATABASE_URL_FILE',
        'RECORDS_PUBLIC_KEYS_FILE',
      ],
    ],
    ['apps', ['AUTHORIZATION_ADDRESS', 'OPERATOR_NAME', 'SERVICE_PRIVATE_KEY_FILE']],
    ['restore', ['AUTHORIZATION_ADDRESS', 'CONSENT_ADDRESS', 'OPERATOR_NAME', 'SERVICE_PRIVATE_KEY_FILE']],
  ])('%s uses the local stack when nothing is set', (command, names) => {
    expect(Object.keys(findLocalSettings(command, {}, () => STACK) ?? {})).toEqual(names);
    expect(findLocalSettings(command, {}, () => null)).toBeNull();
  });

  test('come from the environment only when it names a deployment', () => {
    const env = { AUTHORIZATION_ADDRESS: 'far:7001', SERVICE_PRIVATE_KEY_FILE: 'operator.pem', TLS_CA: '' };
    expect(findLocalSettings('apps', { ...env, OPERATOR_NAME: 'ada' }, () => STACK)).toEqual({});
    expect(findLocalSettings('apps', { OPERATOR_NAME: 'ada' }, () => STACK)).not.toEqual({});
  });

  test.each([
    ['restore', { CONSENT_ADDRESS: 'far:7002' }, 'AUTHORIZATION_ADDRESS, OPERATOR_NAME, SERVICE_PRIVATE_KEY'],
    // The setting is not one of the command, but names a deployment that the caller may mean.
    ['apps', { CONSENT_ADDRESS: 'far:7002' }, 'AUTHORIZATION_ADDRESS, OPERATOR_NAME, SERVICE_PRIVATE_KEY'],
    ['import', { TLS_CA_FILE: 'ca.pem' }, 'HEALTH_DATA_ADDRESS, SERVICE_PRIVATE_KEY'],
  ])('are refused when the environment names a part of a deployment: %s with %j', (command, env, missing) => {
    const [given] = Object.keys(env);
    expect(() => findLocalSettings(command, env, () => STACK)).toThrow(
      `The environment sets ${given?.replace('_FILE', '')}, so the command works with that deployment and not with the local stack. It also needs ${missing}.`,
    );
  });
});
