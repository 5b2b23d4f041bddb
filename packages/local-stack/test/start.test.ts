import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createServiceTokenSource } from '@phds/service-kit/trust/callers';
import { type FilesOfTest, openFilesOfTest } from '@phds/test-kit/files-of-test';
import { startFakeIngestion } from '../../cli/test/fake-ingestion.ts';
import { parsePorts } from '../src/ports.ts';
import { seedUntil } from '../src/seed.ts';
import { startStack } from '../src/stack.ts';
import { createStartCommand } from '../src/start-options.ts';

/** What the arguments mean, and what is printed about them. */
function parse(...args: string[]) {
  const printed: string[] = [];
  const print = (text: string) => void printed.push(text);
  const command = createStartCommand().configureOutput({ writeOut: print, writeErr: print });
  try {
    return { options: command.parse(args, { from: 'user' }).opts(), printed: printed.join('') };
  } catch (error) {
    return { exitCode: (error as { exitCode: number }).exitCode, printed: printed.join('') };
  }
}

describe('the arguments of npm start', () => {
  test('accept --fresh and --gateways', () => {
    expect(parse('--fresh', '--gateways', '3').options).toEqual({ fresh: true, gateways: 3 });
  });

  test.each(['0', '17', '-1', '1.5', 'two', ''])('--gateways=%j is refused with the valid range', (count) => {
    const { exitCode, printed } = parse(`--gateways=${count}`);
    expect(exitCode).toBe(1);
    expect(printed).toContain('It must be a number from 1 to 16.');
  });

  test.each([['--frehs'], ['fresh'], ['--gateways']])(
    '%j is refused and names the known options',
    (argument) => {
      const { exitCode, printed } = parse(argument);
      expect(exitCode).toBe(1);
      expect(printed).toContain('error: ');
      expect(printed).toContain('--gateways <n>');
    },
  );

  test('the help names every option and every port', () => {
    const { exitCode, printed } = parse('--help');
    expect(exitCode).toBe(0);
    for (const word of ['--fresh', '--gateways', 'GATEWAY_PORT', 'CONSENT_PROBE_PORT', '7432', 'REDIS_URL']) {
      expect(printed).toContain(word);
    }
  });
});

let files: FilesOfTest;

beforeEach(() => {
  files = openFilesOfTest();
});

afterEach(() => files[Symbol.dispose]());

test('a start that finds a port taken keeps the data, also with --fresh', async () => {
  const { directory: dataDirectory } = files;
  const key = join(dataDirectory, 'keys/kept.pem');
  await mkdir(join(dataDirectory, 'keys'));
  await writeFile(key, 'kept');
  await using taken = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => taken.once('listening', resolve));
  const { port } = taken.address() as { port: number };
  const ports = parsePorts({ GATEWAY_PORT: String(port) }, 1);
  await expect(startStack({ dataDirectory, ports, fresh: true })).rejects.toThrow(
    `port ${port} is taken; set GATEWAY_PORT`,
  );
  expect(existsSync(key)).toBe(true);
});

test('a later start adds the measurements since the last one, and no appointment twice', async () => {
  await using ingestion = await startFakeIngestion();
  const { SERVICE_PRIVATE_KEY: privateKeyPem = '', HEALTH_DATA_ADDRESS: address = '' } = ingestion.env;
  const tokens = createServiceTokenSource({ service: 'service:importer', privateKeyPem });
  const file = join(files.directory, 'seed.json');
  await writeFile(file, JSON.stringify({ seededAt: '2026-03-01T10:00:00Z' }));
  const until = new Date('2026-03-04T10:00:00Z');
  await seedUntil(file, address, tokens, until);

  const starts = [...ingestion.readings.values()].map(({ start }) => Number(start?.seconds) * 1000);
  expect(Math.min(...starts)).toBeLessThan(Date.parse('2026-03-01T10:00:00Z'));
  expect(Math.max(...starts)).toBeGreaterThan(Date.parse('2026-03-04T09:00:00Z'));
  expect(Math.min(...starts)).toBeGreaterThan(Date.parse('2026-02-26T00:00:00Z'));
  const kinds = new Set([...ingestion.records.values()].map(({ record }) => record.case));
  expect(kinds).toContain('adherenceEntry');
  expect(kinds).not.toContain('appointment');
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ seededAt: until.toISOString() });

  ingestion.readings.clear();
  await seedUntil(file, address, tokens, until);
  expect(ingestion.readings.size).toBe(0);
});

describe('the ports of a stack', () => {
  test('have the documented defaults, with consecutive gateway ports and every tenth port for their probes', () => {
    expect(parsePorts({}, 2)).toEqual({
      gateways: [8080, 8081],
      gatewayProbes: [7100, 7110],
      identityProvider: 8090,
      rpc: { authorization: 7001, consent: 7002, 'health-data': 7003 },
      connect: { authorization: 7201, consent: 7202, 'health-data': 7203 },
      probe: { authorization: 7101, consent: 7102, 'health-data': 7103 },
      postgres: 7432,
      redis: 6380,
    });
  });

  test.each(['0', '65536', 'http', '80.5', '-1'])(
    '%j is not a port: the error names the variable',
    (text) => {
      expect(() => parsePorts({ POSTGRES_PORT: text }, 1)).toThrow('POSTGRES_PORT must be a port');
    },
  );

  test('used twice are refused, naming both', () => {
    expect(() => parsePorts({ IDENTITY_PROVIDER_PORT: '8081' }, 2)).toThrow(
      'Port 8081 is used by GATEWAY_PORT and IDENTITY_PROVIDER_PORT.',
    );
  });
});
