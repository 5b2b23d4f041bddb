import { expect, test } from '@jest/globals';
import { recordedTitles } from '../src/ui/scopes.ts';

test('accesses that name several scopes are shown by the title of each', () => {
  const titles = ['Mood', 'Symptoms'];
  expect(recordedTitles([{ scope: 'read:mood' }, { scope: 'read:symptoms read:mood' }])).toEqual(titles);
});
