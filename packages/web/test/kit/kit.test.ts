import { expect, test } from '@jest/globals';
import { problem } from './answers.ts';
import { openPage } from './page.ts';

const findGlobals = () => ['window', 'document', 'location', 'jest'].filter((name) => name in globalThis);

test('files without pages find plain Node, before a page and after it', async () => {
  const [before, { fetch, setTimeout, Event }] = [findGlobals(), globalThis];
  const page = await openPage('/');
  expect(findGlobals()).toHaveLength(4);
  await page[Symbol.asyncDispose]();
  expect([before, findGlobals()]).toEqual([[], []]);
  expect([globalThis.fetch, globalThis.setTimeout, globalThis.Event]).toEqual([fetch, setTimeout, Event]);
});

test.each([
  [
    'an answer that the OpenAPI document does not describe',
    { listGrants: { data: [], colour: 'red' } as never },
  ],
  [
    'a problem with a status that the OpenAPI document does not describe',
    { listGrants: problem('GONE', { status: 410 }) },
  ],
])('%s fails the test', async (_, answers) => {
  await expect(openPage('/apps', { answers })).rejects.toThrow("The test's answer of listGrants");
});

test('what the page says on the console fails the test', async () => {
  const page = await openPage('/apps');
  console.error('Something is wrong.');
  await expect(page[Symbol.asyncDispose]()).rejects.toThrow('Something is wrong.');
});

test('barriers are found', async () => {
  await using page = await openPage('/apps');
  expect(await page.findBarriers()).toEqual([]);
  document.querySelector('main')?.append(document.createElement('button'));
  expect(await page.findBarriers()).toEqual([expect.stringMatching(/^button-name: /)]);
});
