import { expect, test } from '@jest/globals';
import { renderMarkdown } from '../src/markdown.ts';
import { toSearchIndex } from '../src/search-index.ts';

test('the search index keeps no address of a local stack, because every deployment serves the same one', () => {
  const page = renderMarkdown('# A\n\n## B\n\n```sh\ncurl http://localhost:8080/oauth/token\n```');
  const index = toSearchIndex([{ path: '/docs/a', page }]);
  expect(index).toContain('curl …/oauth/token');
  expect(index).not.toContain('http://localhost:8080');
});
