import { readFileSync, statSync } from 'node:fs';
import { expect, test } from '@jest/globals';

const DIST = new URL('../dist/', import.meta.url);

test('the start page loads less than 150 kB of compressed script', () => {
  const page = readFileSync(new URL('index.html', DIST), 'utf8');
  const scripts = [...page.matchAll(/<(?:script|link rel="modulepreload")[^>]* (?:src|href)="\/([^"]+)"/g)];
  const bytes = scripts.reduce((sum, [, path]) => sum + statSync(new URL(`${path}.gz`, DIST)).size, 0);
  expect(bytes).toBeGreaterThan(10_000);
  expect(bytes).toBeLessThan(150_000);
});
