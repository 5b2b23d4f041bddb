import { describe, expect, test } from '@jest/globals';
import { judgeTrace } from '../src/protocol/oracle.ts';
import type { AccessFacts, Ending, Restorable, TraceEvent } from '../src/protocol/trace.ts';

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
  test('accepts data of accesses that nobody ended', () => {
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

  test.each(endings)('reports data after the end of $kind', (ended) => {
    expect(rulesOf([acknowledged(10, ended), ...DATA])).toEqual(['data-after-revocation']);
  });

  test.each(endings)('counts a refusal after the end of $kind and accepts it', (ended) => {
    const judgement = judgeTrace([acknowledged(10, ended), started(20), answered(30, false)]);
    expect(judgement).toEqual({ violations: [], requests: 1, released: 0, startedAfterRevocation: 1 });
  });

  test.each(endings)('reports a record that is later than the end of $kind', (ended) => {
    expect(rulesOf([acknowledged(23, ended), ...DATA])).toEqual(['record-after-revocation']);
  });

  test.each(endings)('accepts a request that overlaps with the end of $kind', (ended) => {
    expect(rulesOf([acknowledged(27, ended), ...DATA])).toEqual([]);
    expect(rulesOf([acknowledged(20, ended), started(20), recorded(20), answered(30)])).toEqual([]);
  });

  test('does not apply an ending to anything else', () => {
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

  test('reports data of several scopes of which one had ended', () => {
    const facts = { scope: 'heart profile' };
    const events = [started(20, facts), recorded(25, facts), answered(30)];
    expect(rulesOf([acknowledged(10, { ...SCOPE, scope: 'profile' }), ...events])).toEqual([
      'data-after-revocation',
    ]);
  });

  test.each([SCOPE, APP])('accepts data after a restoration was requested: $kind', (subject) => {
    const ended = acknowledged(10, subject, 5);
    expect(rulesOf([ended, restored(12, 14, subject), ...DATA])).toEqual([]);
    // It overlaps with the ending and may have taken effect last.
    expect(rulesOf([ended, restored(1, 6, subject), ...DATA])).toEqual([]);
    expect(rulesOf([ended, restored(1, null, subject), ...DATA])).toEqual([]);
    // Finished before the ending was requested, or requested after the data was released.
    expect(rulesOf([ended, restored(1, 4, subject), ...DATA])).toEqual(['data-after-revocation']);
    expect(rulesOf([ended, restored(31, 32, subject), ...DATA])).toEqual(['data-after-revocation']);
  });

  test('reports data without a matching record', () => {
    const broken = ['data-without-record'];
    expect(rulesOf([started(20), answered(30)])).toEqual(broken);
    expect(rulesOf([started(20), answered(30), recorded(31)])).toEqual(broken);
    expect(rulesOf([started(20), recorded(25, { refused: true }), answered(30)])).toEqual(broken);
    expect(rulesOf([started(20), recorded(25, { scope: 'profile' }), answered(30)])).toEqual(broken);
    expect(rulesOf([started(20), recorded(25, { grant: 'another' }), answered(30)])).toEqual(broken);
  });

  test('accepts a record whose response was never released', () => {
    expect(rulesOf([started(20), recorded(25)])).toEqual([]);
    expect(rulesOf([started(20), recorded(25), answered(30, false)])).toEqual([]);
  });

  test('reports data under a grant that was over', () => {
    expect(rulesOf([{ kind: 'grant-ended', at: 10, grant: 'grant' }, ...DATA])).toEqual([
      'ended-grant-revived',
    ]);
    expect(rulesOf([{ kind: 'grant-ended', at: 22, grant: 'grant' }, ...DATA])).toEqual([]);
  });

  test("reports data for a token that had expired by the database's clock", () => {
    const late = [started(20), recorded(25, { databaseTime: 5000 }), answered(30)];
    expect(rulesOf(late)).toEqual(['data-by-expired-token']);
    expect(rulesOf([started(20), recorded(25, { databaseTime: 4999 }), answered(30)])).toEqual([]);
    expect(rulesOf([started(20, { expiresAt: null }), ...late.slice(1)])).toEqual([]);
  });

  test('reports data from before the first shared day', () => {
    const narrowed = acknowledged(10, { kind: 'days', user: 'user', app: 'app', before: '2026-02-01' }, 5);
    const since = (dataFrom: string) => [...DATA.slice(0, 2), { ...answered(30), dataFrom }];
    expect(rulesOf([narrowed, ...since('')])).toEqual(['data-after-revocation']);
    expect(rulesOf([narrowed, ...since('2026-01-01')])).toEqual(['data-after-revocation']);
    expect(rulesOf([narrowed, ...since('2026-02-01')])).toEqual([]);
    expect(rulesOf([narrowed, ...DATA])).toEqual([]);
    const shared = restored(12, 14, { kind: 'days', user: 'user', app: 'app', before: '' });
    expect(rulesOf([narrowed, shared, ...since('')])).toEqual([]);
  });

  test('reports a refusal that states an ending which nobody requested', () => {
    const refused = [started(20), { ...answered(30, false), saysEnded: true }];
    expect(rulesOf(refused)).toEqual(['refused-without-cause']);
    expect(rulesOf([...refused, { kind: 'asked', at: 25, ended: APP }])).toEqual([]);
    expect(rulesOf([...refused, { kind: 'asked', at: 30, ended: APP }])).toEqual(['refused-without-cause']);
    const other = { ...SCOPE, scope: 'profile' } as const;
    expect(rulesOf([...refused, { kind: 'asked', at: 25, ended: other }])).toEqual(['refused-without-cause']);
    expect(rulesOf([started(20), answered(30, false)])).toEqual([]);
  });

  test('accepts events in any order', () => {
    expect(rulesOf([...DATA, acknowledged(10, APP)].reverse())).toEqual(['data-after-revocation']);
  });

  test('refuses an inconsistent trace', () => {
    expect(() => judgeTrace([answered(30)])).toThrow('never started');
    expect(() => judgeTrace([...DATA, answered(31)])).toThrow('answered twice');
    expect(() => judgeTrace([...DATA, started(21)])).toThrow('started twice');
  });
});
