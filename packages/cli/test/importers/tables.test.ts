import { describe, expect, test } from '@jest/globals';
import {
  type ByteSource,
  type Line,
  type LineReaderOptions,
  readLines,
} from '../../src/importers/tables/lines.ts';
import { type Row, readRows } from '../../src/importers/tables/rows.ts';
import { sourceOf } from './collected-items.ts';

const tableOf = (content: string | Uint8Array, chunkBytes?: number) =>
  sourceOf(content, 'table.txt', chunkBytes);

/** A source that repeats the same chunk, so that a test needs little memory. */
function repeatedSource(piece: Buffer, times: number, tail = ''): ByteSource {
  return {
    name: 'table.txt',
    size: piece.length * times + tail.length,
    async *read() {
      for (let count = 0; count < times; count += 1) yield piece;
      if (tail !== '') yield Buffer.from(tail);
    },
  };
}

const LIMIT = 64 * 1024;

async function linesOf(source: ByteSource, options: Partial<LineReaderOptions> = {}): Promise<Line[]> {
  const lines: Line[] = [];
  for await (const some of readLines(source, { maxLineBytes: LIMIT, ...options })) lines.push(...some);
  return lines;
}

async function textsOf(content: string | Uint8Array, options: Partial<LineReaderOptions> = {}) {
  return (await linesOf(tableOf(content), options)).map(({ text, problem }) => problem || text);
}

describe('lines of a text', () => {
  test.each([
    ['LF', 'one\ntwo\n', ['one', 'two']],
    ['CRLF', 'one\r\ntwo\r\n', ['one', 'two']],
    ['a last line without end', 'one\ntwo', ['one', 'two']],
    ['empty lines', '\n\none\n', ['', '', 'one']],
    ['a byte order mark', '\ufeffone\ntwo', ['one', 'two']],
    ['nothing', '', []],
    ['characters of several bytes', 'naïve 心拍数\n', ['naïve 心拍数']],
  ])('%s', async (_, text, expected) => {
    expect(await textsOf(text)).toEqual(expected);
  });

  test.each([1, 2, 3, 7])('are the same in chunks of %d bytes', async (chunkBytes) => {
    const text = '\ufeffnaïve\r\n\r\n心拍数\nlast';
    const lines = await linesOf(tableOf(text, chunkBytes));
    expect(lines.map((line) => line.text)).toEqual(['naïve', '', '心拍数', 'last']);
    expect(lines.map(({ end }) => end)).toEqual([11, 13, 23, 27]);
    expect(lines.map(({ number }) => number)).toEqual([1, 2, 3, 4]);
  });

  test('resume after a position with the same numbers', async () => {
    const [, second, ...rest] = await linesOf(tableOf('one\ntwo\nthree\nfour'));
    expect(await linesOf(tableOf('one\ntwo\nthree\nfour'), { from: second?.end ?? 0 })).toEqual(rest);
  });
});

describe('unusable lines', () => {
  test('are reported, and the others are read', async () => {
    const bytes = Buffer.concat([
      Buffer.from('one\n'),
      Buffer.from([0xc3, 0x28, 0x0a]),
      Buffer.from('a\0b\nlast\n'),
    ]);
    expect(await textsOf(bytes)).toEqual(['one', 'line is not valid UTF-8', 'line holds a NUL byte', 'last']);
  });

  test('include a line that is one byte too long', async () => {
    const texts = await textsOf(`${'x'.repeat(LIMIT)}\n${'x'.repeat(LIMIT + 1)}\nlast`);
    expect(texts.map((text) => text.length > 100 || text)).toEqual([
      true,
      'line is longer than 64 KB',
      'last',
    ]);
  });

  test('are skipped without holding them when they never end', async () => {
    let most = 0;
    const source = repeatedSource(Buffer.alloc(256 * 1024, 'x'), 1_000, '\nlast\n');
    const watched: ByteSource = {
      ...source,
      async *read() {
        for await (const chunk of source.read()) {
          most = Math.max(most, process.memoryUsage().arrayBuffers);
          yield chunk;
        }
      },
    };
    const before = process.memoryUsage().arrayBuffers;
    const lines = await linesOf(watched);
    expect(lines.map(({ text, problem }) => problem || text)).toEqual(['line is longer than 64 KB', 'last']);
    expect(most - before).toBeLessThan(32 * 1024 * 1024);
  });
});

describe('files that are not text', () => {
  test.each([
    ['gzip', [0x1f, 0x8b, 8, 0], 'table.txt is compressed with gzip: unpack it first.'],
    ['a spreadsheet', [0x50, 0x4b, 3, 4], 'table.txt is a zip archive or a spreadsheet, not a text file.'],
    ['UTF-16', [0xff, 0xfe, 0x74, 0], 'table.txt is UTF-16: save it as UTF-8.'],
  ])('%s is named', async (_, bytes, message) => {
    await expect(linesOf(tableOf(Uint8Array.from(bytes)))).rejects.toThrow(message);
  });
});

async function rowsOf(text: string, { delimiter = ',', width = 3, from = 0, chunkBytes = 64 * 1024 } = {}) {
  const rows: Row[] = [];
  for await (const row of readRows(tableOf(text, chunkBytes), { delimiter, width, from })) rows.push(row);
  return rows;
}

/** Each record as its line, a colon, and what is wrong or the fields with a dot between them. */
async function fieldsOf(text: string, options = {}) {
  return (await rowsOf(text, options)).map(
    ({ line, fields, problem }) => `${line}: ${problem || fields.join('·')}`,
  );
}

const MORE = 'record has more fields than the header';
const FEWER = 'record has fewer fields than the header';
const OPEN = 'a quote is not closed';
const WRONG = 'quotes are wrong';

describe('records', () => {
  test.each([
    ['plain fields', 'a,b,c\n', ['1: a·b·c']],
    ['spaces around them', ' a ,b\t, c \n', ['1: a·b·c']],
    ['quotes', '"a, b","say ""hi""",""\n', ['1: a, b·say "hi"·']],
    ['line breaks in quotes', '"a\nb",c,d\ne,f,g', ['1: a\nb·c·d', '3: e·f·g']],
    ['empty lines', 'a,b,c\n\n,,\nd,e,f', ['1: a·b·c', '2: ', '3: ', '4: d·e·f']],
    ['formulas as text', '=1+1,@x,"=cmd|\' /C calc\'!A0"', ["1: =1+1·@x·=cmd|' /C calc'!A0"]],
  ])('%s', async (_, text, expected) => {
    expect(await fieldsOf(text)).toEqual(expected);
  });

  test.each([';', '\t'])('with another delimiter: %j', async (delimiter) => {
    expect(await fieldsOf(['a', '"1,5"', 'c'].join(delimiter), { delimiter })).toEqual(['1: a·1,5·c']);
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
    ['too many fields', 'a,b,c,d\ne,f,g', [`1: ${MORE}`, '2: e·f·g']],
    ['a million fields', `${','.repeat(60_000)}x\ne,f,g`, [`1: ${MORE}`, '2: e·f·g']],
    ['a last line that is cut off', 'a,b,c\nd,e', ['1: a·b·c', `2: ${FEWER}`]],
    ['a quote that is never closed', 'a,"b,c\nd,e,f\ng,h,i', [`1: ${OPEN}`, '2: d·e·f', '3: g·h·i']],
    [
      'one that meets a quoted field further down',
      'a,"b,c\nd,e,f\n"g",h,i\nj,k,l',
      [`1: ${OPEN}`, '2: d·e·f', '3: g·h·i', '4: j·k·l'],
    ],
    [
      'one that meets another, with too many fields between them',
      'a,"b\nd,e,f\n",g,h,i\nj,k,l',
      [`1: ${OPEN}`, '2: d·e·f', `3: ${OPEN}`, '4: j·k·l'],
    ],
    ['two of them', 'a,"b,c\nd,"e,f\ng,h,i', [`1: ${OPEN}`, `2: ${OPEN}`, '3: g·h·i']],
    ['text behind a quote', '"a"x,b,c\n"d",e,f', [`1: ${WRONG}`, '2: d·e·f']],
    ['quotes inside a field', 'a 5" b 6",c,d\n"e",f,g', [`1: ${WRONG}`, '2: e·f·g']],
    [
      'a NUL byte inside quotes',
      'a,"b\nc\0,"\nd,e,f',
      [`1: ${OPEN}`, '2: line holds a NUL byte', '3: d·e·f'],
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
