import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { ASSUMPTIONS, SERVER } from '../src/capacity/assumptions.ts';
import {
  bytesPer,
  bytesPerRecord,
  type Costs,
  distinctPages,
  readCosts,
  toBottleneck,
  toBytesAfter,
  toCores,
  toDailyBytes,
  toDatabaseCores,
  toDiskPages,
  toFullPageBytes,
  toHighestRate,
  toLoad,
  toRedisBytes,
  toReplicas,
  toWalBytes,
  toWork,
  type UnitCost,
} from '../src/capacity/model.ts';
import { PAGE_FILE, renderPage } from '../src/capacity/page.ts';

const DAY = 86_400;

/** A cost of 100 µs in every service and database. */
const UNIT: UnitCost = {
  count: 1_000,
  perSecond: 100,
  service: { gateway: 100, authorization: 100, consent: 100, 'health-data': 100 },
  database: { authorization: 100, consent: 200, 'health-data': 100 },
  background: 10,
  redis: 1,
  traffic: { gateway: 1_000, authorization: 0, consent: 0, 'health-data': 0 },
  walBytes: 500,
  fullPages: 0,
  transactions: 1,
  pages: { authorization: 0, consent: 10, 'health-data': 4 },
};

const COSTS: Costs = {
  measuredAt: '2026-01-01T00:00:00.000Z',
  loads: { before: '0 0 0', after: '0 0 0' },
  machine: 'a machine',
  read: UNIT,
  readAtHalfRate: UNIT,
  refresh: UNIT,
  connection: UNIT,
  reading: { ...UNIT, service: { ...UNIT.service, gateway: 0 } },
  readingsPerCall: 100,
  fullPagesPerCall: 10,
  rows: {
    'consent.access_record': { rows: 800, bytes: 300 },
    'consent.access_batch': { rows: 100, bytes: 400 },
    'consent.access_day': { rows: 10, bytes: 500 },
    'authorization.access_token': { rows: 10, bytes: 250 },
    'authorization.refresh_token': { rows: 10, bytes: 200 },
    'health_data.reading': { rows: 1_000, bytes: 150 },
    'health_data.hour_rollup': { rows: 500, bytes: 100 },
  },
  rowsOfConnections: {
    'consent.consent_grant': { rows: 10, bytes: 600 },
    'consent.consent_event': { rows: 20, bytes: 700 },
    'authorization.token_family': { rows: 10, bytes: 300 },
  },
  recordsPerBatch: 8,
  redisBytesPerPair: 350,
  recordDays: 730,
  connections: { authorization: 10, consent: 25, 'health-data': 10 },
};

test('a rate of requests is reads and refreshes; connections and readings follow from the people', () => {
  const work = toWork(1_100, { ...ASSUMPTIONS, readsPerRefresh: 10, peoplePerRequest: 1_000 });
  expect(work.reads).toBeCloseTo(1_000);
  expect(work.refreshes).toBeCloseTo(100);
  expect(work.reads + work.refreshes).toBeCloseTo(1_100);
  expect(work.connections * DAY).toBeCloseTo((1_100_000 * 3) / 365);
  expect(work.readings * DAY).toBeCloseTo(1_100_000 * 200);
});

test('cores are the CPU of all work a second', () => {
  const work = { reads: 1_000, refreshes: 100, connections: 10, readings: 5_000 };
  expect(toCores('gateway', work, COSTS)).toBeCloseTo(0.111);
  expect(toCores('health-data', work, COSTS)).toBeCloseTo(0.611);
  // The processes without a connection belong to the busiest database.
  expect(toDatabaseCores('health-data', work, COSTS)).toBeCloseTo(0.611);
  expect(toDatabaseCores('consent', work, COSTS)).toBeCloseTo(6_110 * 210e-6);
});

test('there are two replicas at least, and as many as keep a core below the utilisation', () => {
  expect(toReplicas(0, ASSUMPTIONS)).toBe(2);
  expect(toReplicas(1.2, { ...ASSUMPTIONS, utilisation: 0.6 })).toBe(2);
  expect(toReplicas(1.21, { ...ASSUMPTIONS, utilisation: 0.6 })).toBe(3);
});

describe('bytes', () => {
  test('a record takes its row and its share of the batch, a reading its share of the rollups, a grant all that is stored with it', () => {
    expect(bytesPerRecord(COSTS)).toBe(350);
    expect(bytesPer(COSTS.rows, 'health_data', 'reading')).toBe(200);
    expect(bytesPer(COSTS.rowsOfConnections, 'consent', 'consent_grant')).toBe(2_000);
  });

  test('health data grows by what people measure, whatever is read of it', () => {
    const people = 1_000;
    expect(toDailyBytes('health-data', 1, COSTS, ASSUMPTIONS)).toBeCloseTo(people * 200 * 200);
    const never = { ...ASSUMPTIONS, readsPerRefresh: 1 };
    expect(toDailyBytes('health-data', 1, COSTS, never)).toBeCloseTo(people * 200 * 200);
  });

  test('consent stops growing when the oldest records are dropped, access tokens after two days, most refresh tokens after 30', () => {
    const consentAt = (days: number) => toBytesAfter('consent', days, 100, COSTS, ASSUMPTIONS);
    expect(consentAt(365)).toBeCloseTo(365 * toDailyBytes('consent', 100, COSTS, ASSUMPTIONS));
    expect(consentAt(730)).toBe(consentAt(3_650));
    const tokens = (days: number) => toBytesAfter('authorization', days, 100, COSTS, ASSUMPTIONS);
    expect(tokens(1)).toBeCloseTo(toDailyBytes('authorization', 100, COSTS, ASSUMPTIONS));
    expect(tokens(12) - tokens(11)).toBeLessThan(tokens(1));
    expect(tokens(102) - tokens(101)).toBeLessThan(tokens(12) - tokens(11));
  });

  test('Redis holds the pairs of person and app that are active', () => {
    const one = { ...ASSUMPTIONS, appsPerPerson: 2, activePairs: 0.5 };
    expect(toRedisBytes(1, COSTS, one)).toBe(350_000);
  });
});

describe('WAL', () => {
  test('few changes hit as many pages, many changes hit every page once', () => {
    expect(distinctPages(10, 1e9)).toBeCloseTo(10);
    expect(distinctPages(1e9, 10)).toBeCloseTo(10);
    expect(distinctPages(0, 10)).toBe(0);
    expect(distinctPages(5, 0)).toBe(0);
  });

  test('at high rates nearly every record puts a page into the WAL, so it costs more than the record itself', () => {
    const bytes = toFullPageBytes(10_000, ASSUMPTIONS);
    expect(bytes).toBeGreaterThan(0.9 * 10_000 * 8_192);
    expect(bytes).toBeLessThanOrEqual(10_000 * 8_192);
    const { reads } = toWork(10_000, ASSUMPTIONS);
    const wal = toWalBytes('consent', 10_000, COSTS, ASSUMPTIONS);
    expect(toFullPageBytes(reads, ASSUMPTIONS) / wal).toBeGreaterThan(0.9);
    expect(toFullPageBytes(reads, ASSUMPTIONS)).toBeLessThan(wal);
  });

  test('longer times between checkpoints save full pages only when pages are hit again', () => {
    const often = toFullPageBytes(100, { ...ASSUMPTIONS, checkpointSeconds: 60 });
    const seldom = toFullPageBytes(100, { ...ASSUMPTIONS, checkpointSeconds: 864_000 });
    expect(seldom).toBeLessThan(often);
  });
});

describe('bottlenecks', () => {
  test('pages are read from disk only when the database is larger than the memory', () => {
    const large = { ...SERVER, memoryBytes: 1e18 };
    expect(toDiskPages('consent', { rate: 100, days: 365 }, COSTS, large, ASSUMPTIONS)).toBe(0);
    expect(toDiskPages('consent', { rate: 100, days: 365 }, COSTS, SERVER, ASSUMPTIONS)).toBeGreaterThan(0);
  });

  test('the bottleneck is the resource with the largest share', () => {
    expect(toBottleneck({ cores: 0.1, disk: 0.5, WAL: 0.2, 'disk reads': 0, connections: 0.4 })).toBe('disk');
    expect(toBottleneck({ cores: 0.1, disk: 0.5, WAL: 0.2, 'disk reads': 0, connections: 0.6 })).toBe(
      'connections',
    );
  });

  test('every share grows with the rate, and the highest rate is where the first one reaches the server', () => {
    for (const database of ['authorization', 'consent', 'health-data'] as const) {
      const at = (rate: number) => toLoad(database, { rate, days: 365 }, COSTS, SERVER, ASSUMPTIONS);
      for (const resource of ['cores', 'disk', 'WAL', 'disk reads', 'connections'] as const)
        expect(at(1_000)[resource]).toBeGreaterThanOrEqual(at(100)[resource]);
    }
    expect(toHighestRate((rate) => rate / 1_234)).toBeCloseTo(1_234, -2);
    expect(toHighestRate(() => 0)).toBeGreaterThan(9e6);
  });
});

test('docs/operations/capacity.md is what the command computes from the measured costs', () => {
  expect(readFileSync(PAGE_FILE, 'utf8')).toBe(renderPage(readCosts()));
});
