import { expect, test } from '@jest/globals';
import { findDomain, nameApps } from '../src/ui/app-title.ts';

const app = (clientId: string, name: string, redirectHost: string | null = null) => ({
  clientId,
  name,
  redirectHost,
});
const RUN = app('app_1', 'Run', 'run.test');

test.each([
  ['its host', [RUN, app('app_2', 'Run', 'other.test')], 'run.test'],
  [
    'its id too if another app has the name and the host',
    [RUN, app('app_2', 'Run', 'run.test')],
    'run.test · app_1',
  ],
  ['its host if only the host is the same', [RUN, app('app_2', 'Walk', 'run.test')], 'run.test'],
  ['its host beside another connection of its own', [RUN, RUN], 'run.test'],
  ['its id if the host was not stored', [app('app_1', 'Run')], 'app_1'],
])('an app is distinguished by %s', (_, shown, domain) => {
  expect(findDomain(shown[0] ?? RUN, shown)).toBe(domain);
});

test('only apps of the same name have their domains with it, and an app that occurs twice has its first name', () => {
  const apps = [RUN, app('app_2', 'Run', 'other.test'), app('app_3', 'Walk'), app('app_1', 'Sprint')];
  expect(Object.fromEntries(nameApps(apps))).toEqual({
    app_1: 'Run (run.test)',
    app_2: 'Run (other.test)',
    app_3: 'Walk',
  });
});
