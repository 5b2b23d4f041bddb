import { expect, test } from '@jest/globals';
import { createLookUp } from '../src/store/statements.ts';

interface Row {
  readonly hash: Buffer;
  readonly secret: string;
}

const hashOf = (name: string) => Buffer.from(name);

/** A look-up in a table that the test fills. It returns rows in the opposite order of the keys that were asked for. */
function createTable() {
  const table = new Map<string, string>();
  const asked: string[][] = [];
  const query = async ({ values: [keys = []] }: { values: [Uint8Array[]] }) => {
    const names = keys.map((key) => Buffer.from(key).toString());
    asked.push(names);
    const found = names.filter((name) => table.has(name)).reverse();
    return { rows: found.map((name): Row => ({ hash: hashOf(name), secret: table.get(name) ?? '' })) };
  };
  const find = createLookUp({
    pool: { query } as never,
    guard: { witness: [null, 0], verified: <T>(operation: () => Promise<T>) => operation() } as never,
    statement: { name: 'find', text: '' },
    keyOf: ({ hash }: Row) => hash,
    fromRow: ({ secret }) => secret,
  });
  return { table, asked, find: (name: string) => find(hashOf(name)) };
}

test('look-ups that share a statement each get the row of their own key, or null', async () => {
  const { table, asked, find } = createTable();
  for (const name of ['a', 'b', 'c']) table.set(name, `secret of ${name}`);
  const names = ['b', 'nobody', 'a', 'b', 'c', 'b'];
  expect(await Promise.all(names.map(find))).toEqual([
    'secret of b',
    null,
    'secret of a',
    'secret of b',
    'secret of c',
    'secret of b',
  ]);
  expect(asked).toEqual([['b', 'nobody', 'a', 'c']]);
});

test('a look-up sees what was changed before it, however steadily its key is in use', async () => {
  const { table, find } = createTable();
  for (const secret of ['first', 'second', 'third']) {
    table.set('a', secret);
    expect(await Promise.all([find('a'), find('a')])).toEqual([secret, secret]);
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  table.delete('a');
  expect(await find('a')).toBeNull();
});
