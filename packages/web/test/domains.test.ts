import { expect, test } from '@jest/globals';
import { findDomain } from '../src/pages/apps/domains.ts';

const appOf = (clientId: string, redirectHost: string | null, name = 'Diary') => ({
  clientId,
  name,
  redirectHost,
  description: null,
  developerName: null,
  homepageUrl: null,
  privacyPolicyUrl: null,
});
const DIARY = appOf('one', 'diary.example');

test('an app is distinguished by the host that it gets its answers at', () => {
  expect(findDomain(DIARY, [DIARY, appOf('two', 'other.example')])).toBe('diary.example');
});

test('apps with the same name and host are distinguished by their ids', () => {
  expect(findDomain(DIARY, [DIARY, appOf('two', 'diary.example')])).toBe('diary.example · one');
});

test('another name or a second connection of the same app needs no id', () => {
  const shown = [DIARY, appOf('one', 'diary.example'), appOf('two', 'diary.example', 'Notes')];
  expect(findDomain(DIARY, shown)).toBe('diary.example');
});

test('an app whose host was not stored is distinguished by its id', () => {
  expect(findDomain(appOf('old', null), [])).toBe('old');
});
