import { afterAll } from '@jest/globals';

/** What the tests of one file share. It is disposed of after the last of them. */
export const shared = new AsyncDisposableStack();

afterAll(() => shared.disposeAsync());
// A file that fails while it is loaded runs no hooks. Jest's environment disposes of it then.
Object.assign(globalThis, { sharedByTests: shared });
