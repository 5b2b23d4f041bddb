/**
 * Loaded into each process of the local stack before its own code (`node --import`): ends it when the process that
 * started it is gone, however that ended. Services know nothing of it.
 */

const GRACE_MS = 8_000;

if (process.send !== undefined) {
  process.on('disconnect', () => {
    setTimeout(() => process.exit(1), GRACE_MS).unref();
    process.kill(process.pid, 'SIGTERM');
  });
  // Waiting for the end of the channel is no reason to stay alive.
  process.channel?.unref();
}
