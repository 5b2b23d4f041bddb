import { describe, expect, test } from '@jest/globals';
import type pg from 'pg';
import { createPgSummaries, type ScanLimits } from '../src/store/pg-summaries.ts';
import { PATIENT_SCANS } from './patient-scans.ts';

// Asia/Kolkata's hours begin when those of no rollup do, so its summaries are made from the readings.

/** A pool whose scans of readings end when the test says so. */
function createSlowPool() {
  const scans: { readonly userId: string; readonly end: () => void }[] = [];
  const begun: string[] = [];
  const client = {
    query: (asked: string | pg.QueryConfig) => {
      if (typeof asked === 'string') {
        begun.push(asked);
        return Promise.resolve();
      }
      const { promise, resolve } = Promise.withResolvers<unknown>();
      scans.push({ userId: String(asked.values?.[0]), end: () => resolve({ rows: [] }) });
      return promise;
    },
    release: () => undefined,
  };
  const pool = {
    query: () => Promise.resolve({ rows: [{ usable: false, time_zone: 'Europe/Berlin' }] }),
    connect: () => Promise.resolve(client),
  };
  return { pool: pool as unknown as pg.Pool, scans, begun };
}

function open(limits: Partial<ScanLimits> = {}) {
  const { pool, scans, begun } = createSlowPool();
  const summaries = createPgSummaries(pool, { ...PATIENT_SCANS, ...limits });
  const ask = (userId: string) => {
    const query = {
      userId,
      metrics: ['steps' as const],
      timeZone: 'Asia/Kolkata',
      range: { from: null, to: null },
      since: null,
    };
    return summaries.summarise(query);
  };
  return { ask, scans, begun };
}

/** Everything that needs no answer of the database has happened. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('summaries from the readings themselves', () => {
  test('are made for two people at a time, and for one person one after the other', async () => {
    const { ask, scans } = open();
    const answers = ['ada', 'ada', 'ada', 'bob', 'cyd'].map(ask);
    const seen: string[][] = [];
    for (let ended = 0; ended < answers.length; ended += 1) {
      await settled();
      seen.push(scans.slice(ended).map(({ userId }) => userId));
      scans[ended]?.end();
    }
    await Promise.all(answers);
    expect(seen.map(({ length }) => length)).toEqual([2, 2, 2, 1, 1]);
    for (const users of seen) expect(new Set(users).size).toBe(users.length);
  });

  test('are refused when many wait already, or it takes long, and go on afterwards', async () => {
    const { ask, scans } = open({ maxWaiting: 1, maxWaitMs: 50 });
    const first = ['ada', 'bob'].map(ask);
    await settled();
    const late = ask('cyd');
    await settled();
    await expect(ask('dan')).rejects.toMatchObject({ reason: 'unavailable' });
    await expect(late).rejects.toMatchObject({ reason: 'unavailable' });
    for (const { end } of scans) end();
    await Promise.all(first);
    const next = ask('dan');
    await settled();
    expect(scans.map(({ userId }) => userId)).toEqual(['ada', 'bob', 'dan']);
    scans.at(-1)?.end();
    await next;
  });
});
