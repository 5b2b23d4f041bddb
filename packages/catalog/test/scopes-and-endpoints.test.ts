import { describe, expect, test } from '@jest/globals';
import { CATEGORY_SLUGS } from '../src/categories.ts';
import {
  categoryOfScope,
  DATA_PATHS,
  ENDPOINTS,
  getEndpoint,
  scopeOfCategory,
  scopeOfEndpoint,
} from '../src/endpoints.ts';
import { findLanguage, LANGUAGES } from '../src/languages.ts';
import {
  findScope,
  formatScopeList,
  isScope,
  parseScopeList,
  SCOPE_NAMES,
  SCOPES,
  scopeTexts,
} from '../src/scopes.ts';

// As published in version 1.
const SCOPE_OF_PATH = {
  '/api/v1/health-data/heart': 'read:health-data:heart',
  '/api/v1/health-data/blood-pressure': 'read:health-data:blood-pressure',
  '/api/v1/health-data/oxygen': 'read:health-data:oxygen',
  '/api/v1/health-data/respiratory': 'read:health-data:respiratory',
  '/api/v1/health-data/glucose': 'read:health-data:glucose',
  '/api/v1/health-data/temperature': 'read:health-data:temperature',
  '/api/v1/health-data/activity': 'read:health-data:activity',
  '/api/v1/health-data/sleep': 'read:health-data:sleep',
  '/api/v1/health-data/body-composition': 'read:health-data:body-composition',
  '/api/v1/health-data/mindfulness': 'read:health-data:mindfulness',
  '/api/v1/aggregations': 'read:aggregations',
  '/api/v1/trends': 'read:trends',
  '/api/v1/symptoms': 'read:symptoms',
  '/api/v1/medications': 'read:medications',
  '/api/v1/medications/{id}/adherence': 'read:medications',
  '/api/v1/conditions': 'read:conditions',
  '/api/v1/allergies': 'read:allergies',
  '/api/v1/appointments': 'read:appointments',
  '/api/v1/weight': 'read:weight',
  '/api/v1/mood': 'read:mood',
  '/api/v1/reports': 'read:reports',
  '/api/v1/profile': 'read:profile',
  '/api/v1/ehr': 'read:ehr',
};

// The parameters that each route accepts: those of version 1, and `updatedSince`.
const QUERY_OF_ENDPOINT = {
  'health-data': 'from page pageSize to type updatedSince',
  aggregations: 'from timeZone to type',
  trends: 'bucket from page pageSize timeZone to type',
  symptoms: 'from page pageSize to',
  medications: 'page pageSize',
  adherence: 'from page pageSize to',
  conditions: 'from page pageSize to',
  allergies: 'from page pageSize to',
  appointments: 'from page pageSize to',
  weight: 'from page pageSize to',
  mood: 'from page pageSize to',
  reports: 'from page pageSize to',
  profile: '',
  ehr: 'from page pageSize to',
};

describe('data paths', () => {
  test('each of the 23 requires exactly its published scope', () => {
    expect(DATA_PATHS).toHaveLength(23);
    expect(Object.fromEntries(DATA_PATHS.map(({ path, scope }) => [path, scope]))).toEqual(SCOPE_OF_PATH);
  });

  test('each belongs to a route with the same scope', () => {
    for (const { endpoint, category, scope } of DATA_PATHS) {
      expect(scopeOfEndpoint(getEndpoint(endpoint), category ?? undefined)).toBe(scope);
    }
  });
});

describe('endpoints', () => {
  test('each of the 14 data routes accepts exactly its query parameters', () => {
    const accepted = ENDPOINTS.map(({ id, query }) => [id, [...query].sort().join(' ')]);
    expect(Object.fromEntries(accepted)).toEqual(QUERY_OF_ENDPOINT);
    expect(ENDPOINTS).toHaveLength(14);
  });

  test('every list has pages, and no object has', () => {
    const objects = ENDPOINTS.filter((endpoint) => endpoint.envelope === 'object').map(({ id }) => id);
    expect(objects).toEqual(['aggregations', 'profile']);
    for (const { envelope, query } of ENDPOINTS) {
      expect(query.includes('page')).toBe(envelope === 'list');
      expect(query.includes('pageSize')).toBe(envelope === 'list');
    }
  });

  test('only health-data takes its scope from the category, which must be given', () => {
    expect(ENDPOINTS.filter((endpoint) => endpoint.scopeByCategory).map(({ id }) => id)).toEqual([
      'health-data',
    ]);
    expect(ENDPOINTS.filter(({ scope }) => scope === null).map(({ id }) => id)).toEqual(['health-data']);
    expect(() => scopeOfEndpoint(getEndpoint('health-data'))).toThrow(RangeError);
    for (const slug of CATEGORY_SLUGS) {
      expect(scopeOfEndpoint(getEndpoint('health-data'), slug)).toBe(`read:health-data:${slug}`);
    }
  });

  test('an id outside the table is an error', () => {
    expect(() => getEndpoint('steps' as 'mood')).toThrow(RangeError);
  });
});

describe('scopes', () => {
  test('are the 22 published ones, each opening exactly its own paths', () => {
    expect(SCOPES).toHaveLength(22);
    expect([...new Set(Object.values(SCOPE_OF_PATH))]).toEqual(SCOPE_NAMES);
    for (const { scope, endpoints } of SCOPES) {
      const expected = Object.entries(SCOPE_OF_PATH).filter(([, needed]) => needed === scope);
      expect(endpoints).toEqual(expected.map(([path]) => path));
    }
  });

  test.each(LANGUAGES)(
    'each has a unique title, one or two plain sentences and a heading in %s',
    (language) => {
      const texts = SCOPE_NAMES.map((scope) => scopeTexts(language)[scope]);
      expect(new Set(texts.map(({ title }) => title)).size).toBe(22);
      expect(new Set(texts.map(({ category }) => category)).size).toBe(6);
      for (const { title, description } of texts) {
        expect(title).toMatch(/^\p{Lu}/u);
        expect(description).toMatch(/^\p{Lu}.{20,218}\.$/u);
        expect(description.split(/[.!?] /).length).toBeLessThan(3);
      }
    },
  );

  test('no two languages have a description in common', () => {
    const descriptions = LANGUAGES.flatMap((language) => [
      ...new Set(SCOPE_NAMES.map((scope) => scopeTexts(language)[scope].description)),
    ]);
    // The two summaries have one description.
    expect(new Set(descriptions).size).toBe(21 * LANGUAGES.length);
  });

  test('aggregations and trends state that they cover types that were not selected, and that they can be the readings', () => {
    for (const name of ['read:aggregations', 'read:trends'] as const) {
      const en = scopeTexts('en')[name].description;
      expect(en).toMatch(
        /^Covers everything you measure, including types you have not selected: .* that is the reading\.$/,
      );
      expect(scopeTexts('de')[name].description).toMatch(
        /^Umfasst alles, was Sie messen, auch nicht ausgewählte Arten: .* ist es dieser\.$/,
      );
    }
  });

  test('scopes are sensitive where data reveals an illness, a treatment or a state of mind', () => {
    expect(SCOPES.filter((entry) => entry.sensitive).map((entry) => entry.scope)).toEqual([
      'read:aggregations',
      'read:trends',
      'read:symptoms',
      'read:medications',
      'read:conditions',
      'read:appointments',
      'read:mood',
      'read:reports',
      'read:ehr',
    ]);
  });

  test('are recognised by exact name only: no wildcards, no other case, no prefix', () => {
    expect(isScope('read:mood')).toBe(true);
    for (const text of [
      '',
      'read',
      'read:*',
      'read:health-data',
      'read:health-data:*',
      'READ:MOOD',
      '__proto__',
    ]) {
      expect(isScope(text)).toBe(false);
      expect(findScope(text)).toBeNull();
    }
  });
});

describe('scope lists', () => {
  test('are returned in catalog order and once each, in whatever order they were sent', () => {
    expect(parseScopeList('read:mood read:health-data:heart read:mood')).toEqual({
      scopes: ['read:health-data:heart', 'read:mood'],
      unknown: [],
    });
  });

  test('keep unknown names separate, once each, as sent', () => {
    expect(parseScopeList('write:mood read:mood READ:EHR write:mood')).toEqual({
      scopes: ['read:mood'],
      unknown: ['write:mood', 'READ:EHR'],
    });
  });

  test('are separated by spaces only', () => {
    expect(parseScopeList('  read:mood   read:ehr ').scopes).toEqual(['read:mood', 'read:ehr']);
    expect(parseScopeList('read:mood\tread:ehr')).toEqual({ scopes: [], unknown: ['read:mood\tread:ehr'] });
    expect(parseScopeList('read:mood,read:ehr').scopes).toEqual([]);
    expect(parseScopeList('')).toEqual({ scopes: [], unknown: [] });
  });

  test('are written in catalog order and read back unchanged', () => {
    expect(formatScopeList(['read:ehr', 'read:trends', 'read:ehr'])).toBe('read:trends read:ehr');
    expect(formatScopeList([])).toBe('');
    expect(parseScopeList(formatScopeList(SCOPE_NAMES)).scopes).toEqual(SCOPE_NAMES);
  });
});

test('a category is found from its scope, and none from any other text', () => {
  expect(CATEGORY_SLUGS.map((slug) => categoryOfScope(scopeOfCategory(slug)))).toEqual(CATEGORY_SLUGS);
  const others = SCOPE_NAMES.filter((name) => !name.startsWith('read:health-data:'));
  for (const text of [...others, 'read:health-data:', 'read:health-data:nothing', 'heart']) {
    expect([text, categoryOfScope(text)]).toEqual([text, null]);
  }
});

describe('the language of a tag', () => {
  test.each([
    ['en', 'en'],
    ['en-GB', 'en'],
    ['de', 'de'],
    ['DE-at', 'de'],
    ['de-Latn-CH-1996', 'de'],
    ['de-x-plain', 'de'],
  ])('%s is %s', (tag, language) => {
    expect(findLanguage(tag)).toBe(language);
  });

  test.each([
    '',
    'fr',
    'den',
    'e',
    'x-de',
    'de_AT',
    'de-',
    'de--AT',
    'de-abcdefghi',
    ' de',
    'de\n',
    'constructor',
  ])('%j is none of ours', (tag) => {
    expect(findLanguage(tag)).toBeNull();
  });

  test('a tag that is longer than any real one is refused', () => {
    expect(findLanguage(`de${'-abcdefgh'.repeat(3)}`)).toBe('de');
    expect(findLanguage(`de${'-abcdefgh'.repeat(4)}`)).toBeNull();
  });
});
