import { describe, expect, test } from '@jest/globals';
import { toRevision } from '../src/app/revisions.ts';

const LIVE = {
  grantId: 'grt_1',
  scopes: ['read:health-data:heart', 'read:mood'],
  expiresAt: new Date('2027-03-01T00:00:00.000Z'),
  dataFrom: '2026-01-01',
} as const;

describe('the revision of the terms of a live grant', () => {
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
