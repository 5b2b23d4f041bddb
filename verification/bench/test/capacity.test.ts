import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { readCosts } from '../src/capacity/model.ts';
import { PAGE_FILE, renderPage } from '../src/capacity/page.ts';

test('docs/operations/capacity.md is what the command computes from the measured costs', () => {
  expect(readFileSync(PAGE_FILE, 'utf8')).toBe(renderPage(readCosts()));
});
