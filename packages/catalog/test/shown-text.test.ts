import { describe, expect, test } from '@jest/globals';
import { cleanShownText, findNameFault, findShownTextFault } from '../src/shown-text.ts';

describe('the name of an app is accepted', () => {
  test.each([
    ['in Latin letters', 'AT&T (Diary) – №1'],
    ['in Chinese', '健康日记'],
    ['in Hebrew', 'יומן סוכרת'],
    ['in Korean', '당뇨 일기'],
    ['in Persian, with ZWNJ between letters', 'می\u200Cخواهم'],
    ['in Hindi, with ZWJ between letters', 'क्\u200Dष'],
    ['in Sinhala, with ZWJ between letters', 'ශ්\u200Dරී'],
    ['in Malayalam, with ZWJ at the end of a word', 'അവന്\u200D പറഞ്ഞു'],
    ['in Sinhala, with ZWJ at the end of a word', 'ක්\u200D'],
    ['in Burmese, with five marks on a letter', 'လျှို့ဝှက်'],
    ['with combining marks', 'Ame\u0301lie'],
    ['with emoji of several parts', '👩\u200D⚕\uFE0F Clinic ❤\uFE0F 1\uFE0F\u20E3'],
    ['of an emoji alone', '💊'],
  ])('%s', (_what, name) => {
    expect(findNameFault(name)).toBeNull();
  });
});

describe('an app name that renders blank or reverses text is refused, naming the character', () => {
  test.each([
    ['U+3164', '\u3164'],
    ['U+115F', '\u115F\u1160'],
    ['U+202E', 'yraiD\u202E'],
    ['U+200B', 'Di\u200Bary'],
    ['U+200D', 'Di\u200Dary'],
    ['U+200C', 'Di\u200Cary'],
    ['U+200C', 'می\u200C'],
    ['U+200D', '\u200D'],
    ['U+200D', 'ന്\u200DDiary'],
    ['U+FE0F', 'D\uFE0Fiary'],
    ['U+00AD', 'Di\u00ADary'],
    ['U+034F', 'Di\u034Fary'],
    ['U+E0044', 'Diary\u{E0044}\u{E007F}'],
    ['U+E000', '\uE000'],
    ['U+13441', '\u{13441}'],
    ['U+FFFC', 'Diary\uFFFC'],
    ['U+16FE4', 'Diary\u{16FE4}'],
    ['U+0378', '\u0378'],
    ['U+2028', 'Diary\u2028by a bank'],
    ['U+0000', 'Diary\0'],
  ])('%s', (codePoint, name) => {
    expect(findNameFault(name)).toMatch(new RegExp(`such as ${codePoint.replace('+', '\\+')}$`));
  });
});

test('a name has at most six consecutive combining marks', () => {
  expect(findNameFault(`Diary${'\u0301'.repeat(6)}`)).toBeNull();
  expect(findNameFault(`Diary${'\u0301'.repeat(7)}`)).toBe(
    'must not have more than 6 combining marks in a row',
  );
});

test('a name needs a visible character', () => {
  expect(findNameFault('')).toBe('must not be empty');
  for (const name of ['···', '\u0301', '—']) {
    expect([name, findNameFault(name)]).toEqual([name, 'must contain a letter, a digit or an emoji']);
  }
});

test.each([
  'Your health data',
  'YOUR HEALTH-DATA: security check',
  'Your hеаlth dаtа',
  'Υour health data',
  'Ihre Gesundheitsdaten',
  'P.H.D.S.',
])('the name %j could be taken for this service and is refused', (name) => {
  expect(findNameFault(name)).toBe('must not contain the name of this service');
});

test('a multi-line text may contain line breaks and tabs, and no other invisible characters', () => {
  expect(findShownTextFault('One\n\tTwo', 'lines')).toBeNull();
  expect(findShownTextFault('One\rTwo', 'lines')).toMatch(/U\+000D$/);
  expect(findShownTextFault('One\u202ETwo', 'lines')).toMatch(/U\+202E$/);
});

describe('a text that is cleaned', () => {
  test.each([
    [
      'keeps letters, joiners and emoji',
      'می\u200Cخواهم 👩\u200D⚕\uFE0F ക്\u200D',
      'می\u200Cخواهم 👩\u200D⚕\uFE0F ക്\u200D',
    ],
    ['loses characters that change the direction', 'Ada\u202E Sommer', 'Ada Sommer'],
    ['loses invisible characters and control characters', 'A\u200Bd\u00ADa\u0000\u001B[31m', 'Ada[31m'],
    ['loses joiners outside words', 'Ada\u200D\u200C', 'Ada'],
    ['has no joiner that becomes misplaced by the removal', 'ന്\u200D\u200BDiary', 'ന്Diary'],
    ['has spaces in place of line breaks', '  Ada\r\nSommer\t\u2028B. ', 'Ada Sommer B.'],
    ['has at most six combining marks in a row', `a${'\u0301'.repeat(9)}b`, `a${'\u0301'.repeat(6)}b`],
    ['is empty when nothing visible is left', '\u200B\u2800 \u3164', ''],
  ])('%s', (_what, text, clean) => {
    expect(cleanShownText(text, 'line')).toBe(clean);
  });

  test('of several lines keeps its line breaks in one form', () => {
    expect(cleanShownText('One\r\nTwo\rThree\u2028\tFour \u202E\n', 'lines')).toBe('One\nTwo\nThree\n\tFour');
  });

  test('has no fault afterwards, whatever it was', () => {
    const parts = [
      '\u200D',
      '\uFE0F',
      '❤',
      '👩',
      'ക',
      '്',
      'a',
      '\u200B',
      '\u0301\u0301\u0301\u0301',
      '\u202E',
      '\n',
    ];
    for (let seed = 0; seed < parts.length ** 4; seed += 1) {
      const text = [0, 1, 2, 3]
        .map((place) => parts[Math.floor(seed / parts.length ** place) % parts.length])
        .join('');
      const cleaned = cleanShownText(text, 'line');
      if (findShownTextFault(cleaned, 'line') !== null) throw new Error(JSON.stringify([text, cleaned]));
    }
  });
});
