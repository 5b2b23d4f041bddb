import { describe, expect, test } from '@jest/globals';
import { type Row, readRows } from '../../src/importers/tables/rows.ts';
import { sourceOf } from './byte-sources.ts';

async function rowsOf(text: string, { delimiter = ',', width = 3, from = 0, chunkBytes = 64 * 1024 } = {}) {
  const rows: Row[] = [];
  for await (const some of readRows(sourceOf(text, chunkBytes), { delimiter, width, from }))
    rows.push(...some);
  return rows;
}

async function fieldsOf(text: string, options = {}) {
  return (await rowsOf(text, options)).map(({ line, fields, problem }) => [line, problem || fields]);
}

const MORE = 'record has more fields than the header';
const FEWER = 'record has fewer fields than the header';
const OPEN = 'a quote is not closed';
const WRONG = 'quotes are wrong';

describe('records', () => {
  test.each([
    ['plain fields', 'a,b,c\n', [[1, ['a', 'b', 'c']]]],
    ['spaces around them', ' a ,b\t, c \n', [[1, ['a', 'b', 'c']]]],
    ['quotes', '"a, b","say ""hi""",""\n', [[1, ['a, b', 'say "hi"', '']]]],
    [
      'line breaks in quotes',
      '"a\nb",c,d\ne,f,g',
      [
        [1, ['a\nb', 'c', 'd']],
        [3, ['e', 'f', 'g']],
      ],
    ],
    [
      'empty lines',
      'a,b,c\n\n,,\nd,e,f',
      [
        [1, ['a', 'b', 'c']],
        [2, []],
        [3, []],
        [4, ['d', 'e', 'f']],
      ],
    ],
    ['formulas as text', '=1+1,@x,"=cmd|\' /C calc\'!A0"', [[1, ['=1+1', '@x', "=cmd|' /C calc'!A0"]]]],
  ])('%s', async (_, text, expected) => {
    expect(await fieldsOf(text)).toEqual(expected);
  });

  test.each([';', '\t'])('with another delimiter: %j', async (delimiter) => {
    expect(await fieldsOf(['a', '"1,5"', 'c'].join(delimiter), { delimiter })).toEqual([
      [1, ['a', '1,5', 'c']],
    ]);
  });

  test('are the same for any chunk boundaries', async () => {
    const text = 'a,"b\nc",d\n"e",f,g\n"h,i\nj,k,l\n';
    const whole = await rowsOf(text);
    for (const chunkBytes of [1, 2, 5]) expect(await rowsOf(text, { chunkBytes })).toEqual(whole);
  });

  test('end where the next one starts, so that reading can resume there', async () => {
    const text = 'a,b,c\n"d\ne",f,g\nh,"i",j\n\nk,l,m';
    const all = await rowsOf(text);
    for (const [index, { end }] of all.entries()) {
      expect(await rowsOf(text, { from: end })).toEqual(all.slice(index + 1));
    }
    expect(all.at(-1)?.end).toBe(text.length);
  });
});

describe('that are wrong do not affect others', () => {
  test.each([
    [
      'too many fields',
      'a,b,c,d\ne,f,g',
      [
        [1, MORE],
        [2, ['e', 'f', 'g']],
      ],
    ],
    [
      'a million fields',
      `${','.repeat(60_000)}x\ne,f,g`,
      [
        [1, MORE],
        [2, ['e', 'f', 'g']],
      ],
    ],
    [
      'a last line that is cut off',
      'a,b,c\nd,e',
      [
        [1, ['a', 'b', 'c']],
        [2, FEWER],
      ],
    ],
    [
      'a quote that is never closed',
      'a,"b,c\nd,e,f\ng,h,i',
      [
        [1, OPEN],
        [2, ['d', 'e', 'f']],
        [3, ['g', 'h', 'i']],
      ],
    ],
    [
      'one that meets a quoted field further down',
      'a,"b,c\nd,e,f\n"g",h,i\nj,k,l',
      [
        [1, OPEN],
        [2, ['d', 'e', 'f']],
        [3, ['g', 'h', 'i']],
        [4, ['j', 'k', 'l']],
      ],
    ],
    [
      'one that meets another, with too many fields between them',
      'a,"b\nd,e,f\n",g,h,i\nj,k,l',
      [
        [1, OPEN],
        [2, ['d', 'e', 'f']],
        [3, OPEN],
        [4, ['j', 'k', 'l']],
      ],
    ],
    [
      'two of them',
      'a,"b,c\nd,"e,f\ng,h,i',
      [
        [1, OPEN],
        [2, OPEN],
        [3, ['g', 'h', 'i']],
      ],
    ],
    [
      'text behind a quote',
      '"a"x,b,c\n"d",e,f',
      [
        [1, WRONG],
        [2, ['d', 'e', 'f']],
      ],
    ],
    [
      'quotes inside a field',
      'a 5" b 6",c,d\n"e",f,g',
      [
        [1, WRONG],
        [2, ['e', 'f', 'g']],
      ],
    ],
    [
      'a NUL byte inside quotes',
      'a,"b\nc\0,"\nd,e,f',
      [
        [1, OPEN],
        [2, 'line holds a NUL byte'],
        [3, ['d', 'e', 'f']],
      ],
    ],
  ])('%s', async (_, text, expected) => {
    expect(await fieldsOf(text)).toEqual(expected);
  });

  test('with a quoted field span at most a hundred lines', async () => {
    const lines = (count: number) => `"${'x\n'.repeat(count - 1)}x",b,c`;
    expect((await rowsOf(lines(100))).map(({ fields }) => fields.length)).toEqual([3]);
    const rows = await rowsOf(`${lines(101)}\nlast,b,c`);
    expect(rows).toHaveLength(102);
    expect(rows.at(-1)?.fields).toEqual(['last', 'b', 'c']);
  });

  test('a file of open quotes takes time proportional to its length', async () => {
    const text = `"${'x,y\n'.repeat(98)}`.repeat(200);
    const rows = await rowsOf(text, { width: 2 });
    expect(rows).toHaveLength(98 * 200);
  });
});
