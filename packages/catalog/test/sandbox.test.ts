import { expect, test } from '@jest/globals';
import {
  environmentOf,
  findSandboxUser,
  mayShareWith,
  SANDBOX_PEOPLE,
  toSandboxUserId,
} from '../src/sandbox.ts';

test('a sandbox user id names its app and person, and nothing else does', () => {
  for (const person of SANDBOX_PEOPLE) {
    const userId = toSandboxUserId('app_sandbox_1', person);
    expect(userId).toBe(`sandbox:app_sandbox_1:${person}`);
    expect(findSandboxUser(userId)).toEqual({ clientId: 'app_sandbox_1', person });
  }
  for (const text of [
    'ada',
    'sandbox:',
    'sandbox:app_1:ada',
    'sandbox:app_sandbox_1:grace',
    'sandbox:app_sandbox_1:ada:x',
    'Sandbox:app_sandbox_1:ada',
  ]) {
    expect(findSandboxUser(text)).toBeNull();
  }
});

test('the client id shows whether an app is a sandbox app', () => {
  expect(environmentOf('app_sandbox_1')).toBe('sandbox');
  expect(environmentOf('app_1')).toBe('live');
});

test.each([
  ['ada', 'app_1', true],
  ['sandbox', 'app_1', true],
  ['sandbox:app_sandbox_1:ada', 'app_sandbox_1', true],
  ['ada', 'app_sandbox_1', false],
  ['sandbox:app_sandbox_1:ada', 'app_1', false],
  ['sandbox:app_sandbox_12:ada', 'app_sandbox_1', false],
  ['sandbox:app_1:ada', 'app_1', false],
])('whether %s may share with %s: %s', (userId, clientId, may) => {
  expect(mayShareWith(userId, clientId)).toBe(may);
});
