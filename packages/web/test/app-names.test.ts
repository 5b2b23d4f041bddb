import { expect, test } from '@jest/globals';
import { nameApps } from '../src/pages/history/app-names.ts';

const app = (clientId: string, name: string, redirectHost: string | null = null) => ({
  clientId,
  name,
  redirectHost,
});

test('apps of the same name are distinguished by their domains', () => {
  const apps = [app('app_1', 'Run', 'run.test'), app('app_2', 'Run', 'other.test'), app('app_3', 'Walk')];
  expect([...nameApps(apps).values()]).toEqual(['Run (run.test)', 'Run (other.test)', 'Walk']);
});

test('apps whose domains are the same too, or unknown, are distinguished by their ids', () => {
  const alike = [app('app_1', 'Run', 'run.test'), app('app_2', 'Run', 'run.test'), app('app_3', 'Run')];
  expect([...nameApps(alike).values()]).toEqual(['Run (app_1)', 'Run (app_2)', 'Run (app_3)']);
});

test('an app that occurs twice has the first of its names and is not distinguished from itself', () => {
  const twice = [app('app_1', 'Run', 'run.test'), app('app_1', 'Sprint')];
  expect([...nameApps(twice)]).toEqual([['app_1', 'Run']]);
});
