import { describe, expect, test } from '@jest/globals';
import { shared } from '@phds/test-kit/shared';
import fc from 'fast-check';
import { type History, histories, type Stop } from '../src/protocol/history.ts';
import { type Run, replay } from '../src/protocol/replay.ts';
import { startSystem } from '../src/protocol/system.ts';
import {
  approveSecond,
  BROKEN_VARIANTS,
  history,
  requestAll,
  verifyAssertions,
  withMistake,
} from '../src/protocol/variants.ts';

/** `pnpm prove:protocol` runs many histories, with a new seed each time. */
const HISTORIES = Number(process.env['PROTOCOL_HISTORIES'] ?? 40);
const SEED = Number(process.env['PROTOCOL_SEED'] ?? 1);

/** Histories in which a mistake has to be detected. */
const MOST_SEARCHED = 5_000;

// Time limit for shrinking a failing history.
const SHRINKING_MS = 30_000;
const LIMIT_MS = 180_000 + SHRINKING_MS + HISTORIES * 1_000;

const system = shared.use(await startSystem());

describe('a mistake is detected, and the same history breaks no promise without it:', () => {
  test.each([...BROKEN_VARIANTS])('%s', async (_name, variant) => {
    const { breaks, shownBy } = variant;
    const broken = await withMistake(system.control, variant, () => replay(system, shownBy));
    expect(broken.violations.map(({ rule }) => rule)).toContain(breaks);
    const { violations } = await replay(system, shownBy);
    expect(violations).toEqual([]);
  });
});

describe('a batch of three reads, and of one that is refused before the record,', () => {
  const DATA = { data: true, records: 1 };
  const REPEATED = { data: true, records: 2 };
  const refused = (records: number) => ({ data: false, reason: 'access_not_recorded', records });

  const disturbances: [string, Stop, object][] = [
    ['is released by its own records and verdicts', { at: 'judged', steps: 0 }, DATA],
    ['is repeated when its reads are lost before the record', { at: 'inserting', loses: 'reads' }, REPEATED],
    ['is repeated when its reads are lost after the record', { at: 'recorded', loses: 'reads' }, REPEATED],
    ['is repeated when its reads are lost after the verdicts', { at: 'judged', loses: 'reads' }, REPEATED],
    [
      'is refused when its records are lost before they are made',
      { at: 'inserting', loses: 'records' },
      refused(1),
    ],
    [
      'is refused when its connection is lost after the record',
      { at: 'recorded', loses: 'records' },
      refused(1),
    ],
    ['is refused when its verdicts are lost', { at: 'judged', loses: 'records' }, refused(1)],
    ['is refused when its records cannot be made', { at: 'inserting', fails: true }, refused(0)],
    ['is refused when it cannot be judged after the record', { at: 'recorded', fails: true }, refused(1)],
    ['is refused when one of its verdicts is missing', { at: 'answered', lacks: 'verdict' }, refused(1)],
  ];

  test.each(disturbances)('%s', async (_, stop, expected) => {
    // Consent inserts the last batch after it has finished with the disturbed one.
    const run = await replay(
      system,
      history(approveSecond, verifyAssertions, { ...requestAll, stop }, verifyAssertions),
    );
    expect(run.violations).toEqual([]);
    const early = { data: false, reason: 'insufficient_scope', records: 0 };
    expect(requestsOf(run).slice(4, 8)).toEqual([expected, expected, expected, early]);
  });

  /** The answer and the number of records of each request, in their order. */
  function requestsOf({ trace }: Run) {
    return trace.flatMap((started) => {
      if (started.kind !== 'request-started') return [];
      const own = trace.filter((event) => 'request' in event && event.request === started.request);
      const records = own.filter(({ kind }) => kind === 'recorded').length;
      return own.flatMap((event) =>
        event.kind === 'answered' ? [{ data: event.data, reason: event.reason, records }] : [],
      );
    });
  }
});

// Takes minutes, so it is part of `pnpm prove:protocol` alone.
const searched = process.env['PROTOCOL_HISTORIES'] === undefined ? [] : [...BROKEN_VARIANTS];
for (const [name, variant] of searched) {
  test(
    `random histories detect the mistake ${name}`,
    async () => {
      let isDetected = false;
      let failure: unknown;
      const isMissed = async (history: History) => {
        try {
          const { violations } = await replay(system, history);
          isDetected = violations.some(({ rule }) => rule === variant.breaks);
        } catch (error) {
          // A broken build may fail in other ways, too: a refusal without its record makes a count negative.
          failure = error;
        }
        return !isDetected;
      };
      const options = { numRuns: MOST_SEARCHED, seed: SEED, endOnFailure: true };
      const search = () => fc.check(fc.asyncProperty(histories, isMissed), options);
      await withMistake(system.control, variant, search);
      if (!isDetected) throw new Error(`not detected in ${MOST_SEARCHED} histories`, { cause: failure });
    },
    MOST_SEARCHED * 1_000,
  );
}

test(
  'random histories break no promise, and are meaningful',
  async () => {
    const sums = { released: 0, startedAfterRevocation: 0 };
    const acknowledged = new Set<string>();
    let givenUpAt = Number.POSITIVE_INFINITY;
    const keepsEveryPromise = async (history: History) => {
      if (performance.now() > givenUpAt) return;
      const { trace, violations, released, startedAfterRevocation } = await replay(system, history);
      sums.released += released;
      sums.startedAfterRevocation += startedAfterRevocation;
      for (const event of trace) if (event.kind === 'acknowledged') acknowledged.add(event.ended.kind);
      if (violations.length === 0) return;
      givenUpAt = Math.min(givenUpAt, performance.now() + SHRINKING_MS);
      throw new Error([...violations, ...trace].map((line) => JSON.stringify(line)).join('\n'));
    };
    await fc.assert(fc.asyncProperty(histories, keepsEveryPromise), { numRuns: HISTORIES, seed: SEED });

    expect(sums.released).toBeGreaterThan(HISTORIES);
    expect(sums.startedAfterRevocation).toBeGreaterThan(HISTORIES);
    const kinds = ['app', 'app-life', 'days', 'family', 'grant', 'scope', 'token'];
    expect([...acknowledged].sort()).toEqual(kinds);
  },
  LIMIT_MS,
);
