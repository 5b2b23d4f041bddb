// The parent starts a child, which uses 0.3 s of CPU, and reports `burnt`. On a message it lets the child end and reports `ended`.
import { fork } from 'node:child_process';
import { once } from 'node:events';

const BURNT_MICROSECONDS = 300_000;

function burn() {
  for (;;) {
    const { user, system } = process.cpuUsage();
    if (user + system >= BURNT_MICROSECONDS) return;
  }
}

if (process.argv[2] === 'child') {
  burn();
  process.once('message', () => process.disconnect());
  process.send('burnt');
} else {
  const child = fork(import.meta.filename, ['child']);
  process.once('message', async () => {
    const exited = once(child, 'exit');
    child.send('end');
    await exited;
    process.send('ended');
  });
  child.once('message', () => process.send('burnt'));
}
