import { describe, expect, test } from '@jest/globals';
import { toAddress, toServedMarkdown } from '../src/links.ts';
import { renderMarkdown } from '../src/markdown.ts';
import { listSamples } from '../src/samples.ts';

describe('a page', () => {
  test('has a title, a summary, and a section for each heading that occurs once', () => {
    const text =
      '# Tokens\n\nWhat to *store*.\n\n## Refresh\n\nOnce.\n\n### Errors\n\n- a\n\n## Revoke\n\n### Errors\n\nnone';
    const { title, summary, sections } = renderMarkdown(text);
    expect([title, summary]).toEqual(['Tokens', 'What to store.']);
    expect(sections.map(({ anchor, level, text: words }) => [anchor, level, words])).toEqual([
      ['', 1, 'What to store.'],
      ['refresh', 2, 'Once. Errors # a'],
      ['revoke', 2, 'Errors # none'],
    ]);
  });

  test('has prose without code, for the excerpts of the search', () => {
    const { sections } = renderMarkdown('# A\n\nOne.\n\n```sh\necho\n```\n\nTwo.');
    expect(sections.map(({ text, prose }) => [text, prose])).toEqual([['One. echo Two.', 'One. Two.']]);
  });

  test('has the anchors that GitHub makes, one for each heading', () => {
    const { anchors } = renderMarkdown('# A\n\n## `from` and to\n\n### Errors\n\n### Errors');
    expect(anchors).toEqual(['a', 'from-and-to', 'errors', 'errors-1']);
  });

  test('escapes what it shows, in text, code and attributes', () => {
    const { html } = renderMarkdown(
      '# A & B\n\n`<script>` [x](https://x.example/?a="b)\n\n```sh\necho "<b>"\n```\n',
    );
    expect(html).toContain('A &amp; B');
    expect(html).toContain('<code>&lt;script&gt;</code>');
    expect(html).not.toMatch(/<script>|<b>|a="b/);
  });

  test.each([
    ['## No title', 'The first line of a page is its title.'],
    ['# A\n\n<b>bold</b>', 'No HTML in a page'],
    ['# A\n\n<script>alert(1)</script>', 'No HTML in a page'],
    ['# A\n\n```cobol\nDISPLAY\n```', 'No highlighting for "cobol".'],
    ['# A\n\n[x](../deploying.md)', 'leads out of docs/partners'],
  ])('is refused with the reason: %j', (text, reason) => {
    expect(() => renderMarkdown(text)).toThrow(reason);
  });

  test('may have comments, which are not shown', () => {
    expect(renderMarkdown('# A\n\n<!-- not run: a reason -->\n\ntext').html).not.toContain('reason');
  });
});

describe('a link', () => {
  test.each([
    ['tokens.md', '/docs/tokens'],
    ['tokens.md#refresh', '/docs/tokens#refresh'],
    ['README.md', '/docs'],
    ['problems.md', '/problems'],
    ['problems.md#rate_limited', '/problems/rate-limited'],
    ['#refresh', '#refresh'],
    ['/console', '/console'],
    ['https://ucum.org', 'https://ucum.org'],
  ])('%s between files is %s on a server', (file, address) => {
    expect(toAddress(file)).toBe(address);
  });

  test('of served Markdown leads to Markdown', () => {
    const text = '[a](tokens.md#refresh) [b](README.md) [c](problems.md#not_found) [d](https://x.example)';
    expect(toServedMarkdown(text)).toBe(
      '[a](/docs/tokens.md#refresh) [b](/docs/index.md) [c](/problems/not-found.md) [d](https://x.example)',
    );
  });
});

test('the samples of a page are its sh and ts blocks, with what a comment before one says', () => {
  const text = [
    '# A\n',
    '```sh\na\n```\n',
    '<!-- not run: no network -->\n```ts\nb\n```\n',
    '<!-- file: c.ts -->\n```ts\nc\n```\n',
    '```json\n{}\n```',
  ].join('\n');
  expect(listSamples(text)).toEqual([
    { language: 'sh', code: 'a', notRun: null, file: null, line: 3 },
    { language: 'ts', code: 'b', notRun: 'no network', file: null, line: 8 },
    { language: 'ts', code: 'c', notRun: null, file: 'c.ts', line: 13 },
  ]);
});
