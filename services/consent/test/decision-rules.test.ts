import { describe, expect, test } from '@jest/globals';
import { toProfile } from '@phds/catalog/app-profile';
import type { Scope } from '@phds/catalog/scopes';
import {
  type ApprovalChoice,
  type DecisionFacts,
  decideApproval as decide,
  decideDenial,
  joinScopes,
  refuseExtension,
} from '../src/decision.ts';
import type { Grant } from '../src/grant-rows.ts';
import type { Approval, PendingApproval, PendingStatus } from '../src/pending-approvals.ts';
import { type GrantTerms, narrowTerms, sameScopes, toRevision } from '../src/terms.ts';

const NOW = new Date('2026-03-01T12:00:00.000Z');
const HEART: Scope = 'read:health-data:heart';
const GLUCOSE: Scope = 'read:health-data:glucose';
const MOOD: Scope = 'read:mood';
const decideApproval = (facts: DecisionFacts, choice: ApprovalChoice) => decide(facts, choice, false);
const ALL: ApprovalChoice = { scopes: null, days: null, dataFrom: null };

function pendingIn(status: PendingStatus, changes: Partial<PendingApproval> = {}): PendingApproval {
  return {
    id: 'apr_1',
    clientId: 'app_1',
    appEpoch: 1,
    redirectHost: 'pulse.test',
    scopes: [HEART, GLUCOSE],
    purpose: '',
    clientAuthenticated: true,
    createdAt: NOW,
    expiresAt: NOW,
    status,
    claimedBy: 'ada',
    extensions: 0,
    decidedAt: null,
    shownApp: {
      ...toProfile(() => ''),
      ...{ version: 1, name: 'Pulse Diary', redirectHost: 'pulse.test' },
    },
    approval: null,
    ...changes,
  };
}

function factsOf(pending: PendingApproval, changes: Partial<DecisionFacts> = {}): DecisionFacts {
  return { pending, appStatus: 'active', liveGrant: null, now: NOW, ...changes };
}

const LIVE: Grant = {
  id: 'grt_1',
  userId: 'ada',
  clientId: 'app_1',
  scopes: [MOOD],
  status: 'active',
  grantedAt: NOW,
  expiresAt: NOW,
  dataFrom: null,
  revokedAt: null,
  endedBy: null,
  sub: 'sub_0000000000000000000000',
  deletionRequestedAt: null,
};
const APPROVAL: Approval = {
  scopes: [HEART],
  days: 30,
  dataFrom: null,
  grantId: 'grt_1',
  grantExpiresAt: NOW,
};
const approved = pendingIn('approved', { decidedAt: NOW, approval: APPROVAL });

describe('approving', () => {
  test('without a choice shares everything requested for 90 days', () => {
    expect(decideApproval(factsOf(pendingIn('pending')), ALL)).toEqual({
      kind: 'approved',
      scopes: [HEART, GLUCOSE],
      days: 90,
      terms: { scopes: [HEART, GLUCOSE], expiresAt: new Date('2026-05-30T12:00:00.000Z'), dataFrom: null },
      joins: null,
    });
  });

  test.each([
    { reason: 'pending_expired', pending: pendingIn('expired'), appStatus: 'active' },
    { reason: 'already_decided', pending: pendingIn('denied'), appStatus: 'active' },
    { reason: 'already_decided', pending: approved, appStatus: 'active' },
    { reason: 'app_not_active', pending: pendingIn('pending'), appStatus: 'suspended' },
    { reason: 'app_not_active', pending: pendingIn('cancelled'), appStatus: 'revoked' },
    { reason: 'already_decided', pending: pendingIn('cancelled'), appStatus: 'active' },
  ] as const)(
    'a request that is $pending.status, of an app that is $appStatus, is refused as $reason',
    (row) => {
      const { reason, pending, appStatus } = row;
      // Whatever the screen showed.
      for (const isOutdated of [false, true]) {
        expect(() => decide(factsOf(pending, { appStatus }), ALL, isOutdated)).toThrow(
          expect.objectContaining({ reason }),
        );
      }
    },
  );

  test('keeps the end of the live grant only if that is chosen', () => {
    const expiresAt = new Date('2027-02-01T00:00:00.000Z');
    const choice: ApprovalChoice = { ...ALL, days: 'kept' };
    const facts = factsOf(pendingIn('pending'), { liveGrant: { ...LIVE, expiresAt } });
    expect(decideApproval(facts, choice)).toMatchObject({
      days: 'kept',
      terms: { expiresAt },
      joins: 'grt_1',
    });
    expect(() => decideApproval(factsOf(pendingIn('pending')), choice)).toThrow(
      expect.objectContaining({ violations: [expect.objectContaining({ parameter: 'keepExpiry' })] }),
    );
    const repeated = pendingIn('approved', { decidedAt: NOW, approval: { ...APPROVAL, days: 'kept' } });
    expect(decideApproval(factsOf(repeated), { ...choice, scopes: [HEART] }).kind).toBe('repeated');
  });

  test('from a day that has not begun anywhere is refused, unless the live grant starts with it', () => {
    const decide = (dataFrom: string, changes: Partial<DecisionFacts> = {}) =>
      decideApproval(factsOf(pendingIn('pending'), changes), { ...ALL, dataFrom });
    // At noon UTC, the next day has begun at UTC+14.
    expect(decide('2026-03-02')).toMatchObject({ kind: 'approved', terms: { dataFrom: '2026-03-02' } });
    expect(() => decide('2026-03-03')).toThrow(
      expect.objectContaining({ violations: [expect.objectContaining({ parameter: 'dataFrom' })] }),
    );
    const liveGrant = { ...LIVE, dataFrom: '2026-03-03' };
    expect(decide('2026-03-03', { liveGrant }).kind).toBe('approved');
  });

  describe('on a screen that showed other terms of the live grant', () => {
    test.each<[string, Partial<ApprovalChoice>]>([
      ['', {}],
      [', before its scopes are judged', { scopes: [] }],
      [', before it looks for an end to keep', { days: 'kept' }],
    ])('is refused as a conflict%s', (_, choice) => {
      expect(() => decide(factsOf(pendingIn('pending')), { ...ALL, ...choice }, true)).toThrow(
        expect.objectContaining({ reason: 'conflict' }),
      );
    });

    test('again with the same choice returns the same result', () => {
      const choice: ApprovalChoice = { scopes: [HEART], days: 30, dataFrom: null };
      expect(decide(factsOf(approved), choice, true).kind).toBe('repeated');
    });
  });

  test.each([
    { why: 'no scope', reason: 'no_scopes_approved', choice: { ...ALL, scopes: [] } },
    { why: 'a scope not requested', reason: 'invalid_request', choice: { ...ALL, scopes: [HEART, MOOD] } },
    { why: 'a life not offered', reason: 'invalid_request', choice: { ...ALL, days: 7 } },
  ])('$why is refused as $reason', ({ reason, choice }) => {
    expect(() => decideApproval(factsOf(pendingIn('pending')), choice)).toThrow(
      expect.objectContaining({ reason }),
    );
  });

  test("again with the same choice returns the same result, whatever the app's status", () => {
    const facts = factsOf(approved, { appStatus: 'revoked' });
    expect(decideApproval(facts, { scopes: [HEART], days: 30, dataFrom: null })).toMatchObject({
      kind: 'repeated',
      approval: { grantId: 'grt_1' },
    });
    const everything = { ...APPROVAL, scopes: [GLUCOSE, HEART], days: 90 } as const;
    const repeated = pendingIn('approved', { decidedAt: NOW, approval: everything });
    expect(decideApproval(factsOf(repeated), ALL).kind).toBe('repeated');
  });

  test.each([
    { other: 'scope', scopes: [GLUCOSE], days: 30, dataFrom: null },
    { other: 'life', scopes: [HEART], days: 90, dataFrom: null },
    { other: 'window', scopes: [HEART], days: 30, dataFrom: '2026-01-01' },
  ])('again with another $other is refused as already decided', (choice) => {
    expect(() => decideApproval(factsOf(approved), choice)).toThrow(
      expect.objectContaining({ reason: 'already_decided' }),
    );
  });

  test('joins scopes as (old minus requested) union approved', () => {
    expect(joinScopes([HEART, MOOD], [HEART, GLUCOSE], [GLUCOSE])).toEqual([GLUCOSE, MOOD]);
    expect(joinScopes([], [HEART, GLUCOSE], [HEART])).toEqual([HEART]);
    expect(joinScopes([MOOD], [HEART], [HEART])).toEqual([HEART, MOOD]);
  });
});

describe('denying', () => {
  test('again returns the time of the first denial', () => {
    expect(decideDenial(pendingIn('denied', { decidedAt: NOW }))).toBe(NOW);
    expect(decideDenial(pendingIn('pending'))).toBeNull();
  });

  test.each([
    { reason: 'pending_expired', pending: pendingIn('expired') },
    { reason: 'already_decided', pending: approved },
    { reason: 'already_decided', pending: pendingIn('cancelled') },
  ])('a request that is $pending.status is refused as $reason, like extending it', ({ reason, pending }) => {
    expect(() => decideDenial(pending)).toThrow(expect.objectContaining({ reason }));
    expect(() => refuseExtension(pending)).toThrow(expect.objectContaining({ reason }));
  });
});

describe('narrowing', () => {
  const terms: GrantTerms = {
    scopes: [HEART, GLUCOSE],
    expiresAt: new Date('2026-04-01T00:00:00.000Z'),
    dataFrom: '2026-01-01',
  };
  const nothing = { scopes: null, expiresAt: null, dataFrom: null };

  test('removes the given scopes and keeps the rest', () => {
    expect(narrowTerms(terms, nothing, NOW)).toEqual(terms);
    const sooner = new Date('2026-03-02T00:00:00.000Z');
    expect(narrowTerms(terms, { scopes: [GLUCOSE], expiresAt: sooner, dataFrom: '2026-02-01' }, NOW)).toEqual(
      {
        scopes: [GLUCOSE],
        expiresAt: sooner,
        dataFrom: '2026-02-01',
      },
    );
  });

  test.each([
    ['scopes', { ...nothing, scopes: [HEART, MOOD] }],
    ['scopes', { ...nothing, scopes: [] }],
    ['expiresAt', { ...nothing, expiresAt: new Date('2026-04-02T00:00:00.000Z') }],
    ['expiresAt', { ...nothing, expiresAt: NOW }],
    ['dataFrom', { ...nothing, dataFrom: '2025-12-31' }],
    ['dataFrom', { ...nothing, dataFrom: '2026-03-03' }],
  ])('never widens: %s is refused by name', (parameter, narrowing) => {
    expect(() => narrowTerms(terms, narrowing, NOW)).toThrow(
      expect.objectContaining({
        reason: 'invalid_request',
        violations: [expect.objectContaining({ parameter })],
      }),
    );
  });

  test('compares scopes as sets', () => {
    expect(sameScopes([HEART, GLUCOSE], [GLUCOSE, HEART])).toBe(true);
    expect(sameScopes([HEART], [HEART, GLUCOSE])).toBe(false);
    expect(sameScopes([HEART, GLUCOSE], [HEART, HEART])).toBe(false);
  });
});

describe('the revision of the terms of a live grant', () => {
  const LIVE = {
    grantId: 'grt_1',
    scopes: ['read:health-data:heart', 'read:mood'],
    expiresAt: new Date('2027-03-01T00:00:00.000Z'),
    dataFrom: '2026-01-01',
  } as const;

  test('is the same for the same terms, in whatever order the scopes are', () => {
    expect(toRevision({ ...LIVE, expiresAt: new Date(LIVE.expiresAt) })).toBe(toRevision(LIVE));
    expect(toRevision({ ...LIVE, scopes: ['read:mood', 'read:health-data:heart'] })).toBe(toRevision(LIVE));
  });

  test('differs when the grant, a scope, the end or the first day differs, or there is no grant', () => {
    const revisions = [
      LIVE,
      { ...LIVE, grantId: 'grt_2' },
      { ...LIVE, scopes: ['read:mood'] as const },
      { ...LIVE, scopes: [...LIVE.scopes, 'read:ehr'] as const },
      { ...LIVE, expiresAt: new Date('2027-03-01T00:00:00.001Z') },
      { ...LIVE, dataFrom: '2026-01-02' },
      { ...LIVE, dataFrom: null },
      null,
    ].map(toRevision);
    expect(new Set(revisions).size).toBe(revisions.length);
  });

  test('is short and fits into a form or an address as it is', () => {
    for (const live of [LIVE, null]) expect(toRevision(live)).toMatch(/^[\w-]{4,22}$/);
  });
});
