/** What test files import as '@jest/globals'; run-file.mjs resolves that name to this module. */
import { jestExpect } from '@jest/expect';
import { ModernFakeTimers } from '@jest/fake-timers';
import circus from 'jest-circus';
import { ModuleMocker } from 'jest-mock';

export const { afterAll, afterEach, beforeAll, beforeEach, describe, it, test } = circus;

export const expect = jestExpect;

const mocker = new ModuleMocker(globalThis);
const timers = new ModernFakeTimers({ config: { fakeTimers: {} }, global: globalThis });

/** The part of the `jest` object that the tests use. Modules cannot be mocked, because files share them. */
export const jest = {
  fn: mocker.fn.bind(mocker),
  spyOn: mocker.spyOn.bind(mocker),
  restoreAllMocks: mocker.restoreAllMocks.bind(mocker),
  useFakeTimers: timers.useFakeTimers.bind(timers),
  useRealTimers: timers.useRealTimers.bind(timers),
  advanceTimersByTime: timers.advanceTimersByTime.bind(timers),
};
