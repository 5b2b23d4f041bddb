import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { createGrantRefs } from '../src/app/grant-refs.ts';

/** Grants with their references, and the look-ups made. */
class FakeGrants {
  readonly refs = new Map<string, Uint8Array>();
  readonly askedFor: string[][] = [];

  add(...grantIds: string[]): void {
    for (const grantId of grantIds) this.refs.set(grantId, randomBytes(16));
  }

  async findRefs(grantIds: readonly string[]): Promise<Map<string, Uint8Array>> {
    this.askedFor.push([...grantIds]);
    return new Map([...this.refs].filter(([grantId]) => grantIds.includes(grantId)));
  }
}

test('the reference of a grant is looked up once', async () => {
  const grants = new FakeGrants();
  grants.add('one', 'two');
  const refs = createGrantRefs(grants, 10);
  const [one, two] = [grants.refs.get('one'), grants.refs.get('two')];
  expect(await refs.resolve(['one', 'two', 'one'])).toEqual([one, two, one]);
  expect(await refs.resolve(['two', 'one'])).toEqual([two, one]);
  expect(grants.askedFor).toEqual([['one', 'two']]);
});

test('an unknown grant has the reference of nobody and is looked up again', async () => {
  const grants = new FakeGrants();
  const refs = createGrantRefs(grants, 10);
  expect(await refs.resolve(['late'])).toEqual([new Uint8Array(16)]);
  grants.add('late');
  expect(await refs.resolve(['late'])).toEqual([grants.refs.get('late')]);
});

test('at most the limit of references is cached, and those in use are kept longest', async () => {
  const grants = new FakeGrants();
  grants.add('used', 'a', 'b', 'c', 'd');
  const refs = createGrantRefs(grants, 4);
  for (const grantId of ['a', 'b', 'c', 'd']) await refs.resolve([grantId, 'used']);
  expect(grants.askedFor.flat().filter((grantId) => grantId === 'used')).toHaveLength(1);
  const before = grants.askedFor.length;
  await refs.resolve(['a']);
  expect(grants.askedFor.slice(before)).toEqual([['a']]);
});
