/**
 * Ends the database and Redis of the local stack if the stack's process is killed (kill -9). The stack's other processes end by
 * themselves (exit-with-parent.ts). Arguments: data directory of the database, port of our Redis or 0. The stack holds standard
 * input open and writes `done` for a regular exit.
 */
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { stopLeftover } from './embedded-postgres.ts';

const ATTEMPTS = 50;
const PAUSE_MS = 200;

const [postgresDirectory = '', redisPort = '0'] = process.argv.slice(2);

let said = '';
for await (const chunk of process.stdin) said += String(chunk);
if (said.trim() !== 'done') {
  if (redisPort !== '0') shutDownRedis(Number(redisPort));
  await stopDatabase();
}

// A killed process counts as alive until its parent has waited for it.
async function stopDatabase(): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    try {
      await stopLeftover(postgresDirectory);
      return;
    } catch {
      await delay(PAUSE_MS);
    }
  }
}

function shutDownRedis(port: number): void {
  const socket = connect({ port, host: '127.0.0.1' }, () => socket.end('SHUTDOWN NOSAVE\r\n'));
  socket.on('error', () => undefined);
}
