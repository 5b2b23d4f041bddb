import { PAGE_DEFAULT, PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX } from '@phds/catalog/pagination';
import type { Query } from './query.ts';
import type { Violations } from './violations.ts';

const DIGITS = /^\d{1,10}$/;
const LARGEST = 2_147_483_647;

/** Reads `page` and `pageSize`: whole numbers from 1; `pageSize` is clamped to its maximum. */
export function readPage(query: Query, violations: Violations): { page: number; pageSize: number } {
  return {
    page: readCount(query, 'page', PAGE_DEFAULT, `from 1 to ${LARGEST}`, violations),
    pageSize: Math.min(readCount(query, 'pageSize', PAGE_SIZE_DEFAULT, SIZES, violations), PAGE_SIZE_MAX),
  };
}

const SIZES = `from 1 to ${PAGE_SIZE_MAX}; more is taken as ${PAGE_SIZE_MAX}`;

function readCount(
  query: Query,
  name: string,
  fallback: number,
  range: string,
  violations: Violations,
): number {
  const text = query.values.get(name);
  if (text === undefined) return fallback;
  const value = DIGITS.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= LARGEST) return value;
  violations.add(name, `must be a whole number ${range}`);
  return fallback;
}
