import { expect, test } from '@jest/globals';
import { judgeTrace } from '../src/protocol/oracle.ts';
import type { AccessFacts, AccessRecorded, Ending, Restorable, TraceEvent } from '../src/protocol/trace.ts';

const RECORDED = { app: 'app', grant: 'grant', scope: 'heart' };
const ACCESS: AccessFacts = {
  ...RECORDED,
  ...{ token: 'token', family: 'family', user: 'user', epoch: 1, expiresAt: 5000 },
};

const SCOPE: Restorable = { kind: 'scope', user: 'user', app: 'app', scope: 'heart' };
const APP: Restorable = { kind: 'app', app: 'app' };

const request = 'request';
const started = (at: number, access: Partial<AccessFacts> = {}): TraceEvent => {
  return { kind: 'request-started', at, request, access: { ...ACCESS, ...access } };
};
const recorded = (at: number, facts: Partial<AccessRecorded> = {}): TraceEvent => {
  return { kind: 'recorded', at, request, ...RECORDED, refused: false, databaseTime: 1000, ...facts };
};
const answered = (at: number, data = true): TraceEvent => ({ kind: 'answered', at, request, data });
const acknowledged = (at: number, ended: Ending, askedAt = at - 5): TraceEvent => {
  return { kind: 'acknowledged', at, askedAt, ended };
};
const restored = (at: number, answeredAt: number | null, restores: Restorable): TraceEvent => {
  return { kind: 'restored', at, answeredAt, restores };
};
const asked = (at: number, ended: Ending): TraceEvent => ({ kind: 'asked', at, ended });
const grantEnded = (at: number): TraceEvent => ({ kind: 'grant-ended', at, grant: 'grant' });

const rulesOf = (events: TraceEvent[]) => judgeTrace(events).violations.map(({ rule }) => rule);

/** A request from 20 to 30 that gets data. */
const DATA = [started(20), recorded(25), answered(30)];
const STALE = ['data-after-revocation'];

test.each<Ending>([
  { kind: 'token', token: 'token' },
  { kind: 'family', family: 'family' },
  { kind: 'grant', grant: 'grant' },
  { kind: 'app-life', app: 'app', epoch: 2 },
  SCOPE,
  APP,
])('data and records after the end of $kind are reported; refusals and what overlaps are not', (ended) => {
  expect(rulesOf([acknowledged(10, ended), ...DATA])).toEqual(STALE);
  expect(rulesOf([acknowledged(23, ended), ...DATA])).toEqual(['record-after-revocation']);
  expect(rulesOf([acknowledged(27, ended), ...DATA])).toEqual([]);
  expect(rulesOf([acknowledged(20, ended), started(20), recorded(20), answered(30)])).toEqual([]);
  const refused = judgeTrace([acknowledged(10, ended), started(20), answered(30, false)]);
  expect(refused).toEqual({ violations: [], requests: 1, released: 0, startedAfterRevocation: 1 });
});

test('an ending does not apply to anything else', () => {
  const others: Ending[] = [
    { kind: 'token', token: 'another' },
    { kind: 'family', family: 'another' },
    { kind: 'grant', grant: 'another' },
    { kind: 'app-life', app: 'app', epoch: 1 },
    { kind: 'app-life', app: 'another', epoch: 2 },
    { ...SCOPE, scope: 'profile' },
    { ...SCOPE, user: 'another' },
    { kind: 'app', app: 'another' },
  ];
  const judgement = judgeTrace([...others.map((ended) => acknowledged(10, ended)), ...DATA]);
  expect(judgement).toEqual({ violations: [], requests: 1, released: 1, startedAfterRevocation: 0 });
});

test.each([SCOPE, APP])('data after a restoration was requested is accepted: $kind', (subject) => {
  const judge = (at: number, answeredAt: number | null) =>
    rulesOf([acknowledged(10, subject, 5), restored(at, answeredAt, subject), ...DATA]);
  expect(judge(12, 14)).toEqual([]);
  // It overlaps with the ending and may have taken effect last.
  expect(judge(1, 6)).toEqual([]);
  expect(judge(1, null)).toEqual([]);
  // Finished before the ending was requested, or requested after the data was released.
  expect(judge(1, 4)).toEqual(STALE);
  expect(judge(31, 32)).toEqual(STALE);
});

test('data from before the first shared day is reported', () => {
  const days = { kind: 'days', user: 'user', app: 'app', before: '2026-02-01' } as const;
  const since = (dataFrom: string, ...more: TraceEvent[]) =>
    rulesOf([
      acknowledged(10, days, 5),
      ...more,
      ...DATA.slice(0, 2),
      { ...answered(30), dataFrom } as TraceEvent,
    ]);
  expect([since(''), since('2026-01-01')]).toEqual([STALE, STALE]);
  expect([since('2026-02-01'), rulesOf([acknowledged(10, days, 5), ...DATA])]).toEqual([[], []]);
  expect(since('', restored(12, 14, { ...days, before: '' }))).toEqual([]);
});

const TWO = { scope: 'heart profile' };
const REFUSED = [started(20), { ...answered(30, false), saysEnded: true }];
const LATE = [recorded(25, { databaseTime: 5000 }), answered(30)];
const PROFILE: Ending = { ...SCOPE, scope: 'profile' };

test.each<[string, TraceEvent[], string]>([
  ['no record', [started(20), answered(30)], 'data-without-record'],
  ['a later record', [started(20), answered(30), recorded(31)], 'data-without-record'],
  ['a refused record', [started(20), recorded(25, { refused: true }), answered(30)], 'data-without-record'],
  ['another scope', [started(20), recorded(25, { scope: 'profile' }), answered(30)], 'data-without-record'],
  ['another grant', [started(20), recorded(25, { grant: 'another' }), answered(30)], 'data-without-record'],
  ['a record alone', [started(20), recorded(25)], ''],
  ['a recorded refusal', [started(20), recorded(25), answered(30, false)], ''],
  ['a grant that was over', [grantEnded(10), ...DATA], 'ended-grant-revived'],
  ['a grant that ends meanwhile', [grantEnded(22), ...DATA], ''],
  ['an expired token', [started(20), ...LATE], 'data-by-expired-token'],
  ['a token without expiry', [started(20, { expiresAt: null }), ...LATE], ''],
  ['a token that lives', [started(20), recorded(25, { databaseTime: 4999 }), answered(30)], ''],
  ['a refusal without cause', REFUSED, 'refused-without-cause'],
  ['a refusal with a cause', [...REFUSED, asked(25, APP)], ''],
  ['a refusal with a later cause', [...REFUSED, asked(30, APP)], 'refused-without-cause'],
  ['a refusal with the cause of another', [...REFUSED, asked(25, PROFILE)], 'refused-without-cause'],
  ['events in any order', [...DATA, acknowledged(10, APP)].reverse(), 'data-after-revocation'],
  [
    'several scopes of which one had ended',
    [acknowledged(10, PROFILE), started(20, TWO), recorded(25, TWO), answered(30)],
    'data-after-revocation',
  ],
])('%s', (_, events, rule) => {
  expect(rulesOf(events)).toEqual(rule === '' ? [] : [rule]);
});

test.each([
  ['never started', [answered(30)]],
  ['answered twice', [...DATA, answered(31)]],
  ['started twice', [...DATA, started(21)]],
])('an inconsistent trace is refused: %s', (problem, events) => {
  expect(() => judgeTrace(events)).toThrow(problem);
});
