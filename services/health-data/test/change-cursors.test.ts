import { expect, test } from '@jest/globals';
import { findCursor, formatCursor } from '../src/app/change-cursors.ts';
import { createPublicIds } from '../src/app/public-ids.ts';

const ids = createPublicIds(Buffer.alloc(32, 7))('app_1');
const at = new Date('2026-01-02T03:04:05.678Z');
const since = new Date('2026-01-01T00:00:00Z');
const item = { startAt: at, endAt: at, metric: 'heart-rate', source: 'iphone' };
const KEY = [at.getTime(), at.getTime(), 'heart-rate', 'iphone'];

test.each([
  ['in the middle', [since.getTime(), 7, at.getTime(), ...KEY], item],
  ['at the end', [since.getTime(), 7, at.getTime()], null],
])('a cursor of the release without a nonce, %s, goes on at its place', (_, sealed, expected) => {
  const cursor = findCursor(ids, 'list', `cur_${ids.seal(JSON.stringify(sealed), 'list')}`);
  const seen = { number: 7, at };
  expect(cursor).toEqual({
    place: { seen, item: expected },
    latest: seen,
    visible: seen,
    since,
    madeAt: null,
  });
});

test('a cursor keeps what it tells, and begins with what the release without a nonce reads', () => {
  const place = { seen: { number: 7, at }, item };
  const cursor = { place, latest: { number: 9, at }, visible: { number: 3, at }, since, madeAt: at };
  const text = formatCursor(ids, 'list', cursor);
  expect(findCursor(ids, 'list', text)).toEqual(cursor);
  const parts = JSON.parse(ids.open(text.slice('cur_'.length), 'list') ?? '');
  expect(parts.slice(0, 7)).toEqual([since.getTime(), 7, at.getTime(), ...KEY]);
});
