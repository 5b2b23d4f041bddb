import { describe, expect, test } from '@jest/globals';
import {
  type ByteSource,
  type Line,
  type LineReaderOptions,
  readLines,
} from '../../src/importers/tables/lines.ts';
import { repeatedSource, sourceOf } from './byte-sources.ts';

const LIMIT = 64 * 1024;

async function linesOf(source: ByteSource, options: Partial<LineReaderOptions> = {}): Promise<Line[]> {
  const lines: Line[] = [];
  for await (const some of readLines(source, { maxLineBytes: LIMIT, ...options })) lines.push(...some);
  return lines;
}

async function textsOf(content: string | Uint8Array, options: Partial<LineReaderOptions> = {}) {
  return (await linesOf(sourceOf(content), options)).map(({ text, problem }) => problem || text);
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
    const lines = await linesOf(sourceOf(text, chunkBytes));
    expect(lines.map((line) => line.text)).toEqual(['naïve', '', '心拍数', 'last']);
    expect(lines.map(({ end }) => end)).toEqual([11, 13, 23, 27]);
    expect(lines.map(({ number }) => number)).toEqual([1, 2, 3, 4]);
  });

  test('resume after a position with the same numbers', async () => {
    const [, second, ...rest] = await linesOf(sourceOf('one\ntwo\nthree\nfour'));
    expect(await linesOf(sourceOf('one\ntwo\nthree\nfour'), { from: second?.end ?? 0 })).toEqual(rest);
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
    await expect(linesOf(sourceOf(Uint8Array.from(bytes)))).rejects.toThrow(message);
  });
});
