import { describe, expect, test } from '@jest/globals';
import { createPublicIds } from '../src/app/public-ids.ts';

const KEY = Buffer.alloc(32, 1);
const ROW = '0123abcd-4567-89ef-0123-456789abcdef';
const ROWS = [ROW, 'ffffffff-ffff-ffff-ffff-ffffffffffff', '00000000-0000-0000-0000-000000000000'].map(
  (id) => ({ id }),
);

const idOf = (ids: ReturnType<ReturnType<typeof createPublicIds>>, id = ROW) =>
  ids.toPublicIds('med', [{ id }])[0];

describe('the ids of a reader', () => {
  test('depend only on the server key and the reader, and not on the version of the service', () => {
    const ids = createPublicIds(KEY)('app_one');
    expect(ids.toPublicIds('med', [{ id: ROW }])).toEqual(['med_9a3019504445452496e1d4084883de73']);
    expect(ids.toTag('{"data":null}')).toBe('iYWQyHd0JmCvidKFWoOhovvZjik');
  });

  test('are the same in another process, at another position of a page, and on another page', () => {
    const [one, other] = [createPublicIds(KEY)('app_one'), createPublicIds(KEY)('app_one')];
    const page = one.toPublicIds('rdg', ROWS);
    expect(new Set(page).size).toBe(ROWS.length);
    expect(one.toPublicIds('rdg', [])).toEqual([]);
    expect(one.toPublicIds('rdg', ROWS.toReversed())).toEqual(page.toReversed());
    expect(other.toPublicIds('rdg', ROWS)).toEqual(page);
    expect(other.toTag('text')).toBe(one.toTag('text'));
  });

  test('differ for another reader and with another server key', () => {
    const publicIds = createPublicIds(KEY);
    const readers = [publicIds('app_one'), publicIds('app_two'), publicIds('person one'), publicIds('')];
    const all = [...readers, createPublicIds(Buffer.alloc(32, 2))('app_one')];
    expect(new Set([ROW.replaceAll('-', ''), ...all.map((ids) => idOf(ids)?.slice(4))]).size).toBe(6);
    expect(new Set(all.map((ids) => ids.toTag('text'))).size).toBe(5);
  });

  test('are the same even when more readers than the cache size have asked in between', () => {
    const publicIds = createPublicIds(KEY);
    const kept = publicIds('app_one');
    const before = idOf(kept);
    for (let count = 0; count < 1_100; count += 1) publicIds(`app_${count}`);
    expect(publicIds('app_one')).not.toBe(kept);
    expect(idOf(publicIds('app_one'))).toBe(before);
    expect(publicIds('app_one')).toBe(publicIds('app_one'));
  });

  test("lead back to their row only with their own prefix and unchanged; another reader's do not", () => {
    const publicIds = createPublicIds(KEY);
    const ids = publicIds('app_one');
    const [known = ''] = ids.toPublicIds('med', [{ id: ROW }]);
    expect(ids.findRowId('med', known)).toBe(ROW);
    expect(publicIds('app_two').findRowId('med', known)).not.toBe(ROW);
    for (const malformed of [
      '',
      'med_',
      ROW,
      known.toUpperCase(),
      `${known}0`,
      known.slice(0, -1),
      ` ${known}`,
    ]) {
      expect(ids.findRowId('med', malformed)).toBeNull();
    }
    expect(ids.findRowId('adh', known)).toBeNull();
    expect(ids.findRowId('med', known.replace('med', 'sym'))).toBeNull();
  });
});
