import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { LANGUAGES } from '@phds/catalog/languages';
import { findNameFault } from '@phds/catalog/shown-text';
import type { KnownApp } from '../src/api/resources.ts';
import { findLookAlikes } from '../src/pages/approve/look-alikes.ts';

const knownOf = (name: string, currentName?: string): KnownApp => ({
  clientId: 'app_known',
  name,
  redirectHost: 'run.test',
  developerName: null,
  ...(currentName === undefined ? {} : { currentName }),
});
const find = (name: string, known: KnownApp) => findLookAlikes({ clientId: 'app_new', name }, [known]);

test.each([
  'Morning Run',
  'morning-run',
  'MORNINGRUN!',
  'Ｍorning Run',
  'Mоrning Run',
  'ΜΟRΝΙΝG RUΝ',
  'МORNING RUN',
])('the name %j is taken for Morning Run, and the known app keeps its own name', (name) => {
  const alike = { clientId: 'app_known', name: 'Morning Run', redirectHost: 'run.test', developerName: null };
  expect(find(name, knownOf('Morning Run'))).toEqual([alike]);
});

test('an app that was renamed is found by either name, and has the name that is alike', () => {
  const renamed = knownOf('Walk', 'Morning Run');
  expect(find('walk', renamed).map(({ name }) => name)).toEqual(['Walk']);
  expect(find('morning run', renamed).map(({ name }) => name)).toEqual(['Morning Run']);
});

test.each([
  ['Evening Run', 'Morning Run'],
  ['***', '!!!'],
  ['***', 'Morning Run'],
  ['Morning Run', '***'],
])('the name %j is not taken for %j', (name, known) => {
  expect(find(name, knownOf(known))).toEqual([]);
});

test('names of the same symbols are alike, but an app is not taken for itself', () => {
  expect(find('***', knownOf('***'))).toHaveLength(1);
  expect(findLookAlikes({ clientId: 'app_known', name: 'Run' }, [knownOf('Run')])).toEqual([]);
});

test.each(LANGUAGES)('the name of these pages in %s is the name of no app', (language) => {
  const url = new URL(`../src/texts/${language}/frame.json`, import.meta.url);
  const { product } = JSON.parse(readFileSync(url, 'utf8')) as { readonly product: string };
  expect(findNameFault(product)).toBe('must not contain the name of this service');
});
