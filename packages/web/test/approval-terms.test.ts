import { describe, expect, test } from '@jest/globals';
import type { Scope } from '@phds/catalog/scopes';
import type { Connection, PendingApproval } from '../src/api/resources.ts';
import { type Choices, NO_CHOICES, toApproved, toTerms } from '../src/pages/approve/terms.ts';

const HEART = 'read:health-data:heart';
const MOOD = 'read:mood';
const WEIGHT = 'read:weight';
const DAY_MS = 86_400_000;
/** Noon in the zone of this process, so that the day is this one in every zone. */
const NOW = new Date(2026, 10, 22, 12).getTime();

const CONNECTION: Connection = {
  grantId: 'cgr_1',
  appName: 'Morning Run',
  scopes: [HEART, MOOD],
  expiresAt: '2027-11-22T12:00:00.000Z',
  dataFrom: '2026-01-01',
};

/** A request for these scopes, by an app with this connection. */
function ask(scopes: readonly Scope[], connection: Connection | null = null): PendingApproval {
  const app = { clientId: 'app_1', name: 'Morning Run', description: null, developerName: null };
  const links = { homepageUrl: null, privacyPolicyUrl: null };
  return {
    id: 'apr_1',
    status: 'pending',
    app: { ...app, ...links, redirectHost: 'run.example' },
    requestedScopes: scopes.map((scope) => ({
      scope,
      title: scope,
      description: null,
      sensitive: false,
      alreadyShared: connection?.scopes.includes(scope) ?? false,
    })),
    purpose: null,
    clientAuthenticated: true,
    createdAt: '2026-11-22T11:59:00.000Z',
    expiresAt: '2026-11-22T12:09:00.000Z',
    revision: 'r1',
    connection,
  };
}

const termsOf = (approval: PendingApproval, choices: Partial<Choices> = {}) =>
  toTerms(approval, { ...NO_CHOICES, ...choices }, NOW);

describe('without a choice', () => {
  test('a new connection would share nothing, end after 90 days and go back 30 days', () => {
    const terms = termsOf(ask([HEART, MOOD]));
    expect(terms).toMatchObject({
      chosen: [],
      scopes: [],
      life: '90',
      firstDay: '2026-10-23',
      dayFault: null,
    });
    expect(terms.end).toBe(NOW + 90 * DAY_MS);
  });

  test('a connection keeps everything that it has', () => {
    const terms = termsOf(ask([HEART, WEIGHT], CONNECTION));
    expect(terms).toMatchObject({
      chosen: [HEART],
      scopes: [HEART, MOOD],
      stopped: [],
      added: [],
      others: [MOOD],
    });
    expect(terms.end).toBe(Date.parse(CONNECTION.expiresAt));
    expect(toApproved(terms)).toEqual({ scopes: [HEART], keepExpiry: true, dataFrom: '2026-01-01' });
  });
});

describe('with choices', () => {
  test('the scopes are those chosen and those that were not asked for, in the order of the catalog', () => {
    const ticks = new Map([
      [HEART, false],
      [WEIGHT, true],
    ]);
    const terms = termsOf(ask([HEART, WEIGHT], CONNECTION), { ticks });
    expect(terms).toMatchObject({ scopes: [WEIGHT, MOOD], stopped: [HEART], added: [WEIGHT] });
  });

  test('an approval sends the days and the first day that the terms show', () => {
    const ticks = new Map([[HEART, true]]);
    const terms = termsOf(ask([HEART], CONNECTION), { ticks, life: '30', lookBack: 'everything' });
    expect(toApproved(terms)).toEqual({ scopes: [HEART], expiresInDays: 30, dataFrom: null });
    expect(terms.end).toBe(NOW + 30 * DAY_MS);
  });

  test.each([
    ['', 'missing'],
    ['2026-11-23', 'future'],
    ['2026-11-22', null],
    ['2020-02-29', null],
  ])('the first day %p has the fault %p', (day, fault) => {
    expect(termsOf(ask([HEART]), { lookBack: 'day', day }).dayFault).toBe(fault);
  });

  test('a connection that has ended in the meantime cannot be kept, and its scopes are not chosen', () => {
    const terms = termsOf(ask([HEART]), { life: 'kept', lookBack: 'kept' });
    expect(terms).toMatchObject({ chosen: [], life: '90', lookBack: 'month' });
  });
});
