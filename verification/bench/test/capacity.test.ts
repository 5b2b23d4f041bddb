import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { ASSUMPTIONS, SERVER } from '../src/capacity/assumptions.ts';
import {
  distinctPages,
  readCosts,
  toBottleneck,
  toBytesAfter,
  toDiskPages,
  toFullPageBytes,
  toHighestRate,
  toLoad,
  toReplicas,
} from '../src/capacity/model.ts';
import { PAGE_FILE, renderPage } from '../src/capacity/page.ts';

const COSTS = readCosts();

test('there are two replicas at least, and as many as keep a core below the utilisation', () => {
  expect(toReplicas(0, ASSUMPTIONS)).toBe(2);
  expect(toReplicas(1.2, { ...ASSUMPTIONS, utilisation: 0.6 })).toBe(2);
  expect(toReplicas(1.21, { ...ASSUMPTIONS, utilisation: 0.6 })).toBe(3);
});

test('consent stops growing when the oldest records are dropped', () => {
  const bytesAfter = (days: number) => toBytesAfter('consent', days, 100, COSTS, ASSUMPTIONS);
  expect(bytesAfter(3_650)).toBe(bytesAfter(COSTS.recordDays));
});

describe('WAL', () => {
  test('few changes hit as many pages, many changes hit every page once', () => {
    expect(distinctPages(10, 1e9)).toBeCloseTo(10);
    expect(distinctPages(1e9, 10)).toBeCloseTo(10);
    expect(distinctPages(0, 10)).toBe(0);
    expect(distinctPages(5, 0)).toBe(0);
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
  expect(readFileSync(PAGE_FILE, 'utf8')).toBe(renderPage(COSTS));
});
