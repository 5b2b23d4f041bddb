import { describe, expect, test } from '@jest/globals';
import { findLanguage } from '../src/languages.ts';

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
