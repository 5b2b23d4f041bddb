import { expect, test } from '@jest/globals';
import { CATEGORY_SLUGS } from '../src/categories.ts';
import {
  acceptedScopes,
  categoryOfScope,
  DATA_PATHS,
  scopeOfCategory,
  TIME_ZONE_PATH,
} from '../src/endpoints.ts';
import { SCOPE_NAMES } from '../src/scopes.ts';

const pathOf = (id: string) => DATA_PATHS.find(({ endpoint }) => endpoint === id) ?? TIME_ZONE_PATH;

test('the accepted scopes of every path without a type are its own alone', () => {
  for (const path of DATA_PATHS) expect(acceptedScopes(path, '')).toEqual([path.scope]);
});

test.each(['aggregations', 'trends'])(
  'the accepted scopes of %s of one type are its own, then that of the category of the type',
  (id) => {
    const own = pathOf(id).scope;
    expect(acceptedScopes(pathOf(id), 'Steps')).toEqual([own, 'read:health-data:activity']);
    expect(acceptedScopes(pathOf(id), 'resting-hr')).toEqual([own, 'read:health-data:heart']);
    expect(acceptedScopes(pathOf(id), 'nothing')).toEqual([own]);
  },
);

test('the accepted scopes of other paths of one type are its own alone', () => {
  for (const path of DATA_PATHS) {
    if (path.endpoint !== 'aggregations' && path.endpoint !== 'trends') {
      expect(acceptedScopes(path, 'Steps')).toEqual([path.scope]);
    }
  }
});

test('the accepted scopes of the time zone are all of data with a time or a date', () => {
  const without = ['read:profile'];
  expect(acceptedScopes(TIME_ZONE_PATH, '')).toEqual(SCOPE_NAMES.filter((name) => !without.includes(name)));
  expect(TIME_ZONE_PATH.scope).toBe(acceptedScopes(TIME_ZONE_PATH, '')[0]);
});

test('a category is found from its scope, and none from any other text', () => {
  expect(CATEGORY_SLUGS.map((slug) => categoryOfScope(scopeOfCategory(slug)))).toEqual(CATEGORY_SLUGS);
  const others = SCOPE_NAMES.filter((name) => !name.startsWith('read:health-data:'));
  for (const text of [...others, 'read:health-data:', 'read:health-data:nothing', 'heart']) {
    expect([text, categoryOfScope(text)]).toEqual([text, null]);
  }
});
