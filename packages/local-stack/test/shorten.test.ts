import { describe, expect, test } from '@jest/globals';
import { shortenBody, shortenSecrets, toLine } from '../src/demo/conversation.ts';

const SECRET = `phds_at_${'x'.repeat(49)}`;
const JWT = `eyJhbGciOiJFZERTQSJ9.${'p'.repeat(80)}.${'s'.repeat(40)}`;

describe('the output of the demo', () => {
  test('keeps only the beginning of a secret, wherever it occurs', () => {
    const text = shortenSecrets(`Authorization: Bearer ${SECRET} ${JWT} http://x/?code=${SECRET}&state=1`);
    expect(text).toBe(
      'Authorization: Bearer phds_at_xxxx… eyJhbGciOiJF… http://x/?code=phds_at_xxxx…&state=1',
    );
  });

  test('keeps error codes and ids complete', () => {
    const body = { code: 'INSUFFICIENT_SCOPE', id: 'grt_7XXhbWJtpvASHQVwMxLe4y' };
    expect(shortenBody(body, undefined)).toBe(JSON.stringify(body));
  });

  test('shows the first items of a long list and the number of omitted ones', () => {
    expect(shortenBody({ data: [{ a: 1 }, { a: 2 }, { a: 3 }, { a: 4 }] }, undefined)).toBe(
      '{"data":[{"a":1},{"a":2},"… 2 more"]}',
    );
    expect(shortenBody(['a', 'b', 'c', 'd'], undefined)).toBe('["a","b","c","d"]');
  });

  test('fits a line', () => {
    expect(toLine('abcdef', 6)).toBe('abcdef');
    expect(toLine('abcdefg', 6)).toBe('abcde…');
  });
});
