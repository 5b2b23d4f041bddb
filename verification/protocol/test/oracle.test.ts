import { describe, expect, test } from '@jest/globals';
import { judgeTrace } from '../src/oracle.ts';
import type { AccessFacts, Ending, Restorable, TraceEvent } from '../src/trace.ts';

const ACCESS: AccessFacts = {
  token: 'token',
  family: 'family',
  grant: 'grant',
  user: 'user',
  app: 'app',
  epoch: 1,
  scope: 'heart',
  expiresAt: 5000,
};

const SCOPE: Restorable = { kind: 'scope', user: 'user', app: 'app', scope: 'heart' };
const APP: Restorable = { kind: 'app', app: 'app' };

function started(at: number, access: Partial<AccessFacts> = {}): TraceEvent {
  return { kind: 'request-started', at, request: 'request', access: { ...ACCESS, ...access } };
}

function recorded(at: number, facts: Partial<Extract<TraceEvent, { kind: 'recorded' }>> = {}): TraceEvent {
  const { app, grant, scope } = ACCESS;
  const record = { request: 'request', app, grant, scope, refused: false, databaseTime: 1000 };
  return { kind: 'recorded', at, ...record, ...facts };
}

function answered(at: number, data = true): TraceEvent {
  return { kind: 'answered', at, request: 'request', data };
}

function acknowledged(at: number, ended: Ending, askedAt = at - 5): TraceEvent {
  return { kind: 'acknowledged', at, askedAt, ended };
}

function restored(at: number, answeredAt: number | null, restores: Restorable): TraceEvent {
  return { kind: 'restored', at, answeredAt, restores };
}

const rulesOf = (events: TraceEvent[]) => judgeTrace(events).violations.map(({ rule }) => rule);

/** A request from 20 to 30 that gets data. */
const DATA = [started(20), recorded(25), answered(30)];

describe('the oracle', () => {
  test('finds nothing wrong with data that nobody took back', () => {
    expect(judgeTrace(DATA)).toEqual({ violations: [], requests: 1, released: 1, startedAfterRevocation: 0 });
  });

  const endings: Ending[] = [
    { kind: 'token', token: 'token' },
    { kind: 'family', family: 'family' },
    { kind: 'grant', grant: 'grant' },
    { kind: 'app-life', app: 'app', epoch: 2 },
    SCOPE,
    APP,
  ];

  test.each(endings)('tells data after the end of $kind', (ended) => {
    expect(rulesOf([acknowledged(10, ended), ...DATA])).toEqual(['data-after-revocation']);
  });

  test.each(endings)('counts a refusal after the end of $kind, and is content', (ended) => {
    const judgement = judgeTrace([acknowledged(10, ended), started(20), answered(30, false)]);
    expect(judgement).toEqual({ violations: [], requests: 1, released: 0, startedAfterRevocation: 1 });
  });

  test.each(endings)('tells a record that is younger than the end of $kind', (ended) => {
    expect(rulesOf([acknowledged(23, ended), ...DATA])).toEqual(['record-after-revocation']);
  });

  test.each(endings)('lets a request and the end of $kind overlap', (ended) => {
    expect(rulesOf([acknowledged(27, ended), ...DATA])).toEqual([]);
    expect(rulesOf([acknowledged(20, ended), started(20), recorded(20), answered(30)])).toEqual([]);
  });

  test('takes the end of one thing for the end of nothing else', () => {
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
    expect(rulesOf([...others.map((ended) => acknowledged(10, ended)), ...DATA])).toEqual([]);
  });

  test.each([SCOPE, APP])('lets come back what was asked for again: $kind', (subject) => {
    const ended = acknowledged(10, subject, 5);
    expect(rulesOf([ended, restored(12, 14, subject), ...DATA])).toEqual([]);
    // It overlaps with the end, and may have had the last word.
    expect(rulesOf([ended, restored(1, 6, subject), ...DATA])).toEqual([]);
    expect(rulesOf([ended, restored(1, null, subject), ...DATA])).toEqual([]);
    // Over before the end was asked for, or asked for after the data had left.
    expect(rulesOf([ended, restored(1, 4, subject), ...DATA])).toEqual(['data-after-revocation']);
    expect(rulesOf([ended, restored(31, 32, subject), ...DATA])).toEqual(['data-after-revocation']);
  });

  test('tells data without a record that says so', () => {
    const broken = ['data-without-record'];
    expect(rulesOf([started(20), answered(30)])).toEqual(broken);
    expect(rulesOf([started(20), answered(30), recorded(31)])).toEqual(broken);
    expect(rulesOf([started(20), recorded(25, { refused: true }), answered(30)])).toEqual(broken);
    expect(rulesOf([started(20), recorded(25, { scope: 'profile' }), answered(30)])).toEqual(broken);
    expect(rulesOf([started(20), recorded(25, { grant: 'another' }), answered(30)])).toEqual(broken);
  });

  test('is content with a record whose answer never left', () => {
    expect(rulesOf([started(20), recorded(25)])).toEqual([]);
    expect(rulesOf([started(20), recorded(25), answered(30, false)])).toEqual([]);
  });

  test('tells data by a grant that was over', () => {
    expect(rulesOf([{ kind: 'grant-ended', at: 10, grant: 'grant' }, ...DATA])).toEqual([
      'ended-grant-revived',
    ]);
    expect(rulesOf([{ kind: 'grant-ended', at: 22, grant: 'grant' }, ...DATA])).toEqual([]);
  });

  test('tells data by a token that is over on the clock of the database', () => {
    const late = [started(20), recorded(25, { databaseTime: 5000 }), answered(30)];
    expect(rulesOf(late)).toEqual(['data-by-expired-token']);
    expect(rulesOf([started(20), recorded(25, { databaseTime: 4999 }), answered(30)])).toEqual([]);
    expect(rulesOf([started(20, { expiresAt: null }), ...late.slice(1)])).toEqual([]);
  });

  test('tells data from before the first day that is shared', () => {
    const narrowed = acknowledged(10, { kind: 'days', user: 'user', app: 'app', before: '2026-02-01' }, 5);
    const since = (dataFrom: string) => [...DATA.slice(0, 2), { ...answered(30), dataFrom }];
    expect(rulesOf([narrowed, ...since('')])).toEqual(['data-after-revocation']);
    expect(rulesOf([narrowed, ...since('2026-01-01')])).toEqual(['data-after-revocation']);
    expect(rulesOf([narrowed, ...since('2026-02-01')])).toEqual([]);
    expect(rulesOf([narrowed, ...DATA])).toEqual([]);
    const shared = restored(12, 14, { kind: 'days', user: 'user', app: 'app', before: '' });
    expect(rulesOf([narrowed, shared, ...since('')])).toEqual([]);
  });

  test('tells a refusal that names an end which nobody asked for', () => {
    const refused = [started(20), { ...answered(30, false), saysEnded: true }];
    expect(rulesOf(refused)).toEqual(['refused-without-cause']);
    expect(rulesOf([...refused, { kind: 'asked', at: 25, ended: APP }])).toEqual([]);
    expect(rulesOf([...refused, { kind: 'asked', at: 30, ended: APP }])).toEqual(['refused-without-cause']);
    const other = { ...SCOPE, scope: 'profile' } as const;
    expect(rulesOf([...refused, { kind: 'asked', at: 25, ended: other }])).toEqual(['refused-without-cause']);
    expect(rulesOf([started(20), answered(30, false)])).toEqual([]);
  });

  test('reads events in any order', () => {
    expect(rulesOf([...DATA, acknowledged(10, APP)].reverse())).toEqual(['data-after-revocation']);
  });

  test('refuses a trace that contradicts itself', () => {
    expect(() => judgeTrace([answered(30)])).toThrow('never started');
    expect(() => judgeTrace([...DATA, answered(31)])).toThrow('answered twice');
    expect(() => judgeTrace([...DATA, started(21)])).toThrow('started twice');
  });
});
