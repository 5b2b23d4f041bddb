let stack = new AsyncDisposableStack();

/** What the tests of one file share. The runner disposes of it after the last of them, and when the file cannot be loaded. */
export const shared: Pick<AsyncDisposableStack, 'use' | 'adopt' | 'defer'> = {
  use: (value) => stack.use(value),
  adopt: (value, end) => stack.adopt(value, end),
  defer: (end) => stack.defer(end),
};

Object.assign(globalThis, {
  disposeOfShared: () => {
    const ended = stack;
    stack = new AsyncDisposableStack();
    return ended.disposeAsync();
  },
});
