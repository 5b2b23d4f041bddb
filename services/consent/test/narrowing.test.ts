import { describe, expect, test } from '@jest/globals';
import type { Scope } from '@phds/catalog/scopes';
import { type GrantTerms, narrowTerms, sameScopes } from '../src/domain/grant.ts';

const NOW = new Date('2026-03-01T12:00:00.000Z');
const HEART: Scope = 'read:health-data:heart';
const GLUCOSE: Scope = 'read:health-data:glucose';
const MOOD: Scope = 'read:mood';

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
