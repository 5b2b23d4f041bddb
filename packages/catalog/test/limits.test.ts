import { describe, expect, test } from '@jest/globals';
import * as lifetimes from '../src/lifetimes.ts';
import {
  offsetOf,
  PAGE_DEFAULT,
  PAGE_SIZE_DEFAULT,
  PAGE_SIZE_MAX,
  toPage,
  toPagination,
} from '../src/pagination.ts';
import * as names from '../src/wire-names.ts';

describe('lifetimes', () => {
  test('stay within the published maxima', () => {
    expect(lifetimes.AUTHORIZATION_CODE_MAX_SECONDS).toBe(600);
    expect(lifetimes.ACCESS_TOKEN_SECONDS).toBe(3600);
    expect(lifetimes.REFRESH_TOKEN_SECONDS).toBe(2_592_000);
    expect(lifetimes.REVOCATION_PROPAGATION_SECONDS).toBe(60);
  });

  test('are the published ones', () => {
    expect(lifetimes.AUTHORIZATION_CODE_DEFAULT_SECONDS).toBe(300);
    expect(lifetimes.PENDING_APPROVAL_SECONDS).toBe(600);
    expect(lifetimes.RETRY_WINDOW_SECONDS).toBe(60);
    expect(lifetimes.ACCESS_ASSERTION_SECONDS).toBe(60);
    expect(lifetimes.EXPIRED_TOKEN_MEMORY_SECONDS).toBe(86_400);
  });

  test('a user can choose 1, 30, 90, 180 or 365 days for a grant; the default is 90', () => {
    expect(lifetimes.GRANT_DAYS_CHOICES).toEqual([1, 30, 90, 180, 365]);
    expect(lifetimes.GRANT_DAYS_DEFAULT).toBe(90);
    expect(lifetimes.isGrantDays(365)).toBe(true);
    for (const days of [0, 2, -30, 366, 1.5, Number.NaN]) expect(lifetimes.isGrantDays(days)).toBe(false);
  });
});

describe('pagination', () => {
  test('defaults and maximum are the published ones', () => {
    expect([PAGE_DEFAULT, PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX]).toEqual([1, 20, 100]);
  });

  test('an rpc without page numbers asks for the first page, and a page that is too large is clamped', () => {
    expect([undefined, { page: 0, pageSize: 0 }].map(toPage)).toEqual(
      Array(2).fill({ page: 1, pageSize: 20 }),
    );
    expect(toPage({ page: 3, pageSize: 101 })).toEqual({ page: 3, pageSize: 100 });
    expect([toPage(undefined), { page: 3, pageSize: 50 }].map(offsetOf)).toEqual([0, 100]);
  });

  test.each([
    [0, 20, 0],
    [1, 20, 1],
    [20, 20, 1],
    [21, 20, 2],
    [500_000, 100, 5000],
  ])('%p items with %p on a page make %p pages', (total, pageSize, totalPages) => {
    expect(toPagination({ page: 1, pageSize, total })).toEqual({ page: 1, pageSize, total, totalPages });
  });

  test('a page beyond the end keeps its number and the true total', () => {
    expect(toPagination({ page: 9, pageSize: 20, total: 21 })).toEqual({
      page: 9,
      pageSize: 20,
      total: 21,
      totalPages: 2,
    });
  });
});

describe('public names', () => {
  test('are the published ones, letter by letter', () => {
    expect(names.APP_STATUSES).toEqual(['active', 'suspended', 'revoked']);
    expect(names.PENDING_STATUSES).toEqual(['pending', 'approved', 'denied', 'expired', 'cancelled']);
    expect(names.GRANT_STATUSES).toEqual(['active', 'expired', 'revoked']);
    expect(names.TREND_BUCKETS).toEqual(['hour', 'day']);
    expect(names.TREND_BUCKET_DEFAULT).toBe('day');
    expect(names.AGGREGATION_BASES).toEqual(['reading', 'day']);
    expect(names.MOODS.join('|')).toBe(
      'veryUnpleasant|unpleasant|slightlyUnpleasant|neutral|slightlyPleasant|pleasant|veryPleasant',
    );
    expect(names.SEVERITIES.join('|')).toBe('mild|moderate|severe');
    expect(names.ADHERENCE_STATUSES.join('|')).toBe('taken|skipped|missed|pending');
    expect(names.GENDERS.join('|')).toBe('male|female|other|unknown');
    expect([...names.BLOOD_TYPES].sort().join(' ')).toBe('A+ A- AB+ AB- B+ B- O+ O-');
  });

  test('a medication pattern is a FHIR R4 timing code, PRN or OTHER', () => {
    const fhir = 'AM BED BID MO PM Q1H Q2H Q3H Q4H Q6H Q8H QD QID QOD TID WK';
    expect([...names.MEDICATION_PATTERNS].sort().join(' ')).toBe(
      `${fhir} PRN OTHER`.split(' ').sort().join(' '),
    );
  });
});
