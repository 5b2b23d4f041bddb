import { afterAll } from '@jest/globals';

/** What the tests of one file share. It is disposed of after the last of them. */
export const shared = new AsyncDisposableStack();

afterAll(() => shared.disposeAsync());
