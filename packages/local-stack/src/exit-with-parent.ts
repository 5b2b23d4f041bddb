/** Loaded into each process of the local stack (`node --import`). Ends the process when its parent is gone, for whatever reason. */

const GRACE_MS = 8_000;

if (process.send !== undefined) {
  process.on('disconnect', () => {
    setTimeout(() => process.exit(1), GRACE_MS).unref();
    process.kill(process.pid, 'SIGTERM');
  });
  // The channel must not keep the process alive.
  process.channel?.unref();
}
