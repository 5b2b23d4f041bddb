/**
 * Outlives the local stack's process and, when that ended without saying goodbye (kill -9), ends the database and
 * Redis that it started; the other processes end by themselves (exit-with-parent.ts).
 * Arguments: data directory of the database, port of our Redis or 0. Standard input: held open by the stack; `done` says goodbye.
 */
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { stopLeftover } from './embedded-postgres-leftover.ts';

const ATTEMPTS = 50;
const PAUSE_MS = 200;

const [postgresDirectory = '', redisPort = '0'] = process.argv.slice(2);

let said = '';
for await (const chunk of process.stdin) said += String(chunk);
if (said.trim() !== 'done') {
  if (redisPort !== '0') shutDownRedis(Number(redisPort));
  await stopDatabase();
}

// The killed process still counts as alive until somebody has waited for it.
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
