import { expect, test } from '@jest/globals';
import { unavailable } from '@phds/service-kit/errors';
import { FakeClock } from '@phds/test-kit/fake-clock';
import { type SandboxPorts, sharePreparations } from '../src/app/sandbox-people.ts';
import { FairTurns } from '../src/store/fair-turns.ts';

const idOf = (number: number) => `sandbox:app_sandbox_${number}:ada`;

/** Preparations of people without data, which end when `finish` is called. At most two are made at once, and one waits. */
function start() {
  const clock = new FakeClock();
  const begun: string[] = [];
  const { promise: finished, resolve: finish } = Promise.withResolvers<boolean>();
  const ports: Partial<SandboxPorts> = {
    clock,
    people: {
      use: async () => ({ begunAt: clock.now(), madeUntil: null }),
      made: () => finished,
    } as Partial<SandboxPorts['people']> as SandboxPorts['people'],
    lives: {
      keepsArriving: () => false,
      begin: (_person, userId) => {
        begun.push(userId);
        return { profile: null, readings: [], records: [] };
      },
      proceed: () => {
        throw new Error('nothing was made before');
      },
    },
  };
  const turns = new FairTurns({ atOnce: 2, perKey: 2, maxWaiting: 1, maxWaitMs: Number.POSITIVE_INFINITY });
  return {
    ports,
    prepare: sharePreparations(ports as SandboxPorts, turns),
    begun,
    finish: () => finish(true),
  };
}

test('parallel preparations of a person make the data once, and a later one is a new one', async () => {
  const { prepare, begun, finish } = start();
  const first = Promise.all(Array.from({ length: 20 }, () => prepare(idOf(1))));
  finish();
  await first;
  expect(begun).toEqual([idOf(1)]);
  await prepare(idOf(1));
  expect(begun).toEqual([idOf(1), idOf(1)]);
});

test('data of two people is made at once; beyond those who wait, a preparation is refused and may be repeated', async () => {
  const { prepare, begun, finish } = start();
  const waiting = [1, 2, 3].map((number) => prepare(idOf(number)));
  await expect(prepare(idOf(4))).rejects.toMatchObject({ reason: 'unavailable', retryAfterSeconds: 1 });
  expect(begun).toEqual([idOf(1), idOf(2)]);
  finish();
  await Promise.all(waiting);
  await prepare(idOf(4));
  expect(begun).toEqual([1, 2, 3, 4].map(idOf));
});

test('a preparation that fails does so for all who wait for it, and a repeat begins again', async () => {
  const { prepare, begun, finish } = start();
  const refused: Promise<void>[] = [];
  for (const number of [1, 2, 3, 4, 4]) refused.push(prepare(idOf(number)));
  const results = Promise.allSettled(refused.slice(3));
  const rejected = { status: 'rejected', reason: unavailable() };
  expect(await results).toEqual([rejected, rejected]);
  finish();
  await Promise.all(refused.slice(0, 3));
  await prepare(idOf(4));
  expect(begun).toHaveLength(4);
});

test('a person is made in steps of at most a thousand readings, between which other work has its turn', async () => {
  const { ports, prepare, finish } = start();
  const perTurn: number[] = [0];
  const count = () => void perTurn.push(0);
  const at = new Date('2026-01-01T00:00:00Z');
  const draft = { type: 'Heart Rate', start: at, end: at, value: 60, unit: '', source: 'manual' };
  const readings = (function* () {
    for (let made = 0; made < 3_000; made += 1) {
      if (made % 100 === 0) setImmediate(count);
      perTurn.push((perTurn.pop() ?? 0) + 1);
      yield draft;
    }
  })();
  const put = async () => ({ inserted: 0, updated: 0, unchanged: 0 });
  Object.assign(ports, { readingWriter: { put } });
  Object.assign(ports.lives ?? {}, { begin: () => ({ profile: null, readings, records: [] }) });
  finish();
  await prepare(idOf(1));
  expect(Math.max(...perTurn)).toBe(1_000);
});
