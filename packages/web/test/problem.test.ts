import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { i18n } from '@lingui/core';
import { faultText } from '../src/api/problem.ts';

beforeAll(() => i18n.activate('de'));
afterAll(() => i18n.activate('en'));

test('a fault in the words of the service says so on a German page', () => {
  expect(faultText('must be new')).toBe('wird nicht angenommen (auf Englisch: must be new)');
});
