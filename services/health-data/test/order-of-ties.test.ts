import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { LIST_NAMES, LISTS, type ListName } from './data-lists.ts';
import { at, bodyOf, type Harness, reading, startHarness } from './harness.ts';
import { recordsOf } from './one-of-each.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(async () => harness[Symbol.asyncDispose]());

const START = '2026-01-02T10:00:00Z';

/** A list of the user without the ids. */
async function read(name: ListName, userId: string): Promise<object[]> {
  const { data } = bodyOf(await LISTS[name](harness, await harness.about(userId)));
  return data.map(({ id: _, ...shown }: { id: string }) => shown);
}

// Row ids are hashes of the user id and of data that an app knows, so ordering by them would confirm or refute guesses of the user
// id.
describe('the order of a list does not depend on the user, for', () => {
  test('readings that start at the same time', async () => {
    const sources = ['iphone', 'apple-watch', 'manual', 'ehr', 'csv', 'synthetic', 'oura', 'garmin'];
    const order = async (userId: string) => {
      await harness.putReadings(
        userId,
        sources.flatMap((source) => [
          reading('Heart Rate', START, 60, { source }),
          reading('HRV', START, 40, { source }),
          reading('Weight', START, 60 + source.length, { source }),
        ]),
      );
      return { readings: await read('readings', userId), weights: await read('weight', userId) };
    };
    const orders = await Promise.all(['one', 'two', 'three'].map(order));
    expect(orders[0]?.readings).toHaveLength(2 * sources.length);
    expect(orders).toEqual([orders[0], orders[0], orders[0]]);
  });

  test('records of the same time or day', async () => {
    const letters = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    const order = async (userId: string) => {
      await harness.putHealthRecords(
        userId,
        letters.flatMap((letter) =>
          recordsOf(letter).map((record) => ({ key: letter, source: 'ehr', record })),
        ),
      );
      await harness.putHealthRecords(
        userId,
        letters.map((letter) => ({
          key: `of-a-${letter}`,
          source: 'ehr',
          record: {
            case: 'adherenceEntry' as const,
            value: { medicationKey: 'a', status: 'taken', takenAt: at(START), dose: letter },
          },
        })),
      );
      const names = LIST_NAMES.filter((name) => name !== 'readings' && name !== 'weight');
      return Promise.all(names.map(async (name) => [name, await read(name, userId)] as const));
    };
    const [one, two, three] = [await order('first'), await order('second'), await order('third')];
    expect(two).toEqual(one);
    expect(three).toEqual(one);
    for (const [name, items] of one) {
      expect([name, items.length]).toEqual([name, name === 'adherence' ? 9 : letters.length]);
    }
  });
});
