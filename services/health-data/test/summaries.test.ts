import { create } from '@bufbuild/protobuf';
import { describe, expect, test } from '@jest/globals';
import { getMetric } from '@phds/catalog/metrics';
import { SCOPE_NAMES } from '@phds/catalog/scopes';
import { Verdict } from '@phds/contracts/phds/consent/v1/access_pb';
import { Endpoint, ReadRequestSchema } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import type { AccessAssertion } from '@phds/service-kit/trust/access-assertion';
import { FakeClock } from '@phds/test-kit/fake-clock';
import type pg from 'pg';
import { preview } from '../src/preview.ts';
import { createPublicIds } from '../src/public-ids.ts';
import { askForResource, releaseData } from '../src/release.ts';
import type { DataParts } from '../src/resources.ts';
import type { SummaryQuery } from '../src/summaries.ts';
import { createSummaries, type ScanLimits, toStatistics } from '../src/summaries.ts';
import { PATIENT_SCANS } from './patient-scans.ts';

/** A pool with more readings than a summary may have, whose summaries end when the test says so. */
function createSlowPool(max: number) {
  const scans: { readonly userId: string; readonly end: () => void }[] = [];
  const client = {
    query: (asked: string | pg.QueryConfig) => {
      if (typeof asked === 'string') return Promise.resolve();
      const { promise, resolve } = Promise.withResolvers<unknown>();
      scans.push({ userId: String(asked.values?.[0]), end: () => resolve({ rows: [] }) });
      return promise;
    },
    release: () => undefined,
  };
  const pool = {
    query: () => Promise.resolve({ rows: [{ total: 1e6 }] }),
    connect: () => Promise.resolve(client),
    options: { max },
  };
  return { pool: pool as unknown as pg.Pool, scans };
}

function open(limits: Partial<ScanLimits> = {}, poolSize = 10) {
  const { pool, scans } = createSlowPool(poolSize);
  const summaries = createSummaries(pool, { ...PATIENT_SCANS, ...limits });
  const ask = (askedBy: string, userId: string) => {
    const query = {
      askedBy,
      userId,
      metrics: ['steps' as const],
      timeZone: 'UTC',
      range: { from: null, to: null },
      since: null,
    };
    return summaries.summarise(query);
  };
  return { ask, scans };
}

/** Waits until everything that needs no response of the database has happened. */
const settled = async () => {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

const namesOf = (scans: readonly { readonly userId: string }[]) => scans.map(({ userId }) => userId);

describe('large summaries', () => {
  test('run four at a time, two of one app', async () => {
    const { ask, scans } = open();
    const answers = ['heavy', 'busy', 'late'].flatMap((app) =>
      ['1', '2', '3'].map((number) => ask(app, app + number)),
    );
    await settled();
    expect(namesOf(scans)).toEqual(['heavy1', 'busy1', 'late1', 'heavy2']);
    for (let ended = 0; ended < answers.length; ended += 1) {
      scans[ended]?.end();
      await settled();
    }
    await Promise.all(answers);
  });

  test('leave half of a small pool to other work', async () => {
    const { ask, scans } = open({}, 4);
    const answers = ['one', 'two', 'three'].map((app) => ask(app, app));
    await settled();
    expect(namesOf(scans)).toEqual(['one', 'two']);
    scans[0]?.end();
    await settled();
    expect(namesOf(scans)).toEqual(['one', 'two', 'three']);
    for (const { end } of scans) end();
    await Promise.all(answers);
  });
});

test('a summary counts for the app of the token, and a preview for the person', async () => {
  const askers: string[] = [];
  const ports = {
    profiles: { findTimeZone: () => Promise.resolve(null) },
    summaries: {
      summarise: ({ askedBy }: SummaryQuery) => Promise.resolve(askers.push(askedBy)).then(() => []),
      trend: ({ askedBy }: SummaryQuery) =>
        Promise.resolve(askers.push(askedBy)).then(() => ({ items: [], total: 0 })),
    },
    clock: new FakeClock(),
  } as unknown as DataParts;
  const caller = {
    clientId: 'app_one',
    userId: 'ada',
    scopes: SCOPE_NAMES,
    tokenHash: '',
    dataFrom: null,
  } as unknown as AccessAssertion;
  const record = () => Promise.resolve(Verdict.RELEASED);
  const publicIds = createPublicIds(Buffer.alloc(32));
  const turns = <T>(_: string, read: () => Promise<T>) => read();
  for (const endpoint of [Endpoint.AGGREGATIONS, Endpoint.TRENDS]) {
    const asked = askForResource(create(ReadRequestSchema, { endpoint }));
    await releaseData({ data: ports, record, publicIds, turns }, caller, asked);
  }
  await preview(ports, publicIds, { userId: 'ada', scope: 'read:trends', dataFrom: null });
  expect(askers).toEqual(['app_one', 'app_one', 'person ada', 'person ada']);
});

test.each([
  // 408.9 / 12 is 34.075; float division gives slightly less.
  ['bmi', { count: 12, sum: 408.9, min: 18.5, max: 91 }, 34.08, 408.9],
  ['bmi', { count: 3, sum: 0.1 + 0.2 + 60, min: 0.1, max: 60 }, 20.1, 60.3],
  ['weight', { count: 8, sum: 640.02, min: 80, max: 80.01 }, 80.003, 640.02],
  ['heart-rate', { count: 20, sum: 1201, min: 60, max: 61 }, 60.1, 1201],
  ['steps', { count: 10_000_000, sum: 123_456_789_012, min: 0, max: 1 }, 12345.7, 123_456_789_012],
] as const)('the average of %s over %j is %d, rounded in decimal', (key, raw, average, sum) => {
  expect(toStatistics(getMetric(key), raw)).toMatchObject({ average, sum });
});
