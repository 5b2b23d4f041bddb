import { expect, test } from '@jest/globals';
import { findText } from '../src/repository.ts';
import { measureRooms, parseSizesTable } from '../src/sizes.ts';

test('no room has grown by more than 5 % since docs/sizes.md was written', () => {
  const stated = new Map(parseSizesTable(findText('docs/sizes.md') ?? '').map((size) => [size.room, size]));
  expect(stated.size).toBeGreaterThan(10);
  const larger = measureRooms().filter(({ room, code, tests }) => {
    const before = stated.get(room);
    return before === undefined || code + tests > 1.05 * (before.code + before.tests);
  });
  expect({ larger, remedy: 'node verification/house-rules/bin/sizes.ts --write' }).toMatchObject({
    larger: [],
  });
});
