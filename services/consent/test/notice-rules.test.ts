import { describe, expect, test } from '@jest/globals';
import type { GrantTerms } from '../src/domain/grant.ts';
import { type ApprovedConnection, toApprovalNotice } from '../src/domain/notice.ts';
import {
  type HeavyDay,
  mayAnnounceEnd,
  toEndingId,
  toEndingNotice,
  toUnusualNotice,
} from '../src/domain/scanned-grant.ts';

const DAY_MS = 86_400_000;
const NOW = new Date('2026-03-01T12:00:00.000Z');
const inDays = (days: number) => new Date(NOW.getTime() + days * DAY_MS);

const terms: GrantTerms = {
  scopes: ['read:health-data:heart', 'read:mood'],
  expiresAt: inDays(5),
  dataFrom: '2026-01-01',
};
const connection = { grantId: 'grt_1', clientId: 'app_1', appName: 'Pulse Diary', terms };

describe('an approval', () => {
  const approved: ApprovedConnection = {
    pendingId: 'apr_1',
    userId: 'ada',
    at: NOW,
    connection,
    before: null,
  };

  test('that makes a new grant says that the connection began', () => {
    expect(toApprovalNotice(approved)).toEqual({
      id: 'began:grt_1',
      userId: 'ada',
      at: NOW,
      content: { kind: 'connection_began', connection },
    });
  });

  test.each<[string, Partial<GrantTerms>]>([
    ['the scopes', { scopes: ['read:mood'] }],
    ['the end', { expiresAt: inDays(4) }],
    ['the first day', { dataFrom: null }],
  ])('that changes %s says what the terms were before', (_, changed) => {
    const before = { ...terms, ...changed };
    // A whole grant, as the store has it: only its terms belong into a notice.
    const liveGrant = { ...before, id: 'grt_1', userId: 'ada', status: 'active' };
    expect(toApprovalNotice({ ...approved, before: liveGrant })).toEqual({
      id: 'changed:apr_1',
      userId: 'ada',
      at: NOW,
      content: { kind: 'connection_changed', connection, before },
    });
  });

  test('that changes nothing makes no notice', () => {
    const before = { ...terms, scopes: terms.scopes.toReversed() };
    expect(toApprovalNotice({ ...approved, before })).toBeNull();
  });
});

describe('the end of a connection', () => {
  const dates = (grantedDaysAgo: number, endsInDays: number) => ({
    id: 'grt_1',
    grantedAt: inDays(-grantedDaysAgo),
    expiresAt: inDays(endsInDays),
  });
  const ending = (setDaysAgo: number, endsInDays: number) => ({
    userId: 'ada',
    connection: { ...connection, terms: { ...terms, expiresAt: inDays(endsInDays) } },
    endSetAt: inDays(-setDaysAgo),
  });

  test('is announced once for each end', () => {
    const notice = toEndingNotice(ending(83, 7), NOW);
    expect(notice).toMatchObject({ userId: 'ada', at: NOW, content: { kind: 'connection_ending' } });
    expect(notice?.id).toBe(toEndingId('grt_1', inDays(7)));
    expect(toEndingId('grt_1', inDays(6))).not.toBe(notice?.id);
  });

  test.each([
    ['more than seven days away', 83, 7.001],
    ['set fourteen days ahead', 7, 7],
    ['reached', 90, 0],
    ['past', 91, -1],
  ])('is not announced when it is %s', (_, setDaysAgo, endsInDays) => {
    expect(toEndingNotice(ending(setDaysAgo, endsInDays), NOW)).toBeNull();
    expect(mayAnnounceEnd(dates(setDaysAgo, endsInDays), NOW)).toBe(false);
  });

  test('that was set recently is not announced, however old the connection is', () => {
    expect(mayAnnounceEnd(dates(83, 7), NOW)).toBe(true);
    expect(toEndingNotice(ending(1, 7), NOW)).toBeNull();
  });

  test('that was set just more than fourteen days ahead is announced', () => {
    expect(mayAnnounceEnd(dates(7.001, 7), NOW)).toBe(true);
    expect(toEndingNotice(ending(7.001, 7), NOW)).not.toBeNull();
  });
});

describe('a day of reading', () => {
  const day = (facts: Pick<HeavyDay, 'reads' | 'pastReads' | 'pastDays'>): HeavyDay => ({
    userId: 'ada',
    connection,
    day: '2026-03-01',
    ...facts,
  });

  test.each([
    ['more reads than a hundred and than five times the usual', { reads: 101, pastReads: 565, pastDays: 28 }],
    ['reads after days without any', { reads: 101, pastReads: 0, pastDays: 28 }],
    ['many reads when the connection is seven days old', { reads: 1_000, pastReads: 700, pastDays: 7 }],
  ])('is unusual with %s', (_, facts) => {
    expect(toUnusualNotice(day(facts), NOW)).toEqual({
      id: 'unusual:grt_1:2026-03-01',
      userId: 'ada',
      at: NOW,
      content: {
        kind: 'unusual_reading',
        connection,
        day: '2026-03-01',
        reads: facts.reads,
        usualReadsPerDay: Math.round(facts.pastReads / facts.pastDays),
      },
    });
  });

  test.each([
    ['a hundred reads', { reads: 100, pastReads: 0, pastDays: 28 }],
    ['five times the usual', { reads: 1_000, pastReads: 5_600, pastDays: 28 }],
    ['many reads by a connection of six days', { reads: 100_000, pastReads: 6, pastDays: 6 }],
    ['many reads on the first day', { reads: 100_000, pastReads: 0, pastDays: 0 }],
  ])('is usual with %s', (_, facts) => {
    expect(toUnusualNotice(day(facts), NOW)).toBeNull();
  });
});
