import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { i18n } from '@lingui/core';
import { faultText } from '../src/api/problem.ts';

const ROOT = join(import.meta.dirname, '../../..');
const MESSAGE = /(['`])((?:must|is|has|needs|contains) .*?)\1/g;

beforeAll(() => i18n.activate('de'));
afterAll(() => i18n.activate('en'));

test.each([
  'services/authorization/src/domain/redirect-uri.ts',
  'services/authorization/src/domain/app-settings.ts',
  'packages/catalog/src/shown-text.ts',
  'services/consent/src/webhooks/domain/endpoint.ts',
  'services/consent/src/webhooks/app/webhooks.ts',
])('every fault that %s finds in what a developer enters has a German text', (file) => {
  const found = readFileSync(join(ROOT, file), 'utf8').matchAll(MESSAGE);
  const messages = [...found].map(([, , message]) =>
    (message ?? '').replace(/\$\{to.*\}/, 'U+202E').replace(/\$\{.*\}/, '12'),
  );
  expect(messages.length).toBeGreaterThan(0);
  expect(messages.filter((message) => /\{\}|auf Englisch/.test(faultText(message)))).toEqual([]);
});

test('a fault names its entry, and one without a German text says whose words it shows', () => {
  expect(faultText('entry 2 must have at most 512 characters')).toBe(
    '(Eintrag 2) darf höchstens 512 Zeichen haben',
  );
  expect(faultText('must be new')).toBe('wird nicht angenommen (auf Englisch: must be new)');
});
