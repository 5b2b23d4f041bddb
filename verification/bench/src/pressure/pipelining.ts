import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { startRunningStack } from '@phds/running-system/running-stack';
import { peakMegabytes, resetPeak } from '../memory.ts';

const CONNECTIONS = 90;
const BYTES = 4_900_000;
const REQUEST = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n';
const ATTACK_MS = 20_000;
const READ_BYTES = 64;
const READ_INTERVAL_MS = 2_000;
const PROBE_INTERVAL_MS = 50;
const UNFINISHED_LIMIT_MS = 60_000;

/** Measures a gateway whose clients send many requests at once and read their answers in small bites. */
export async function benchPipelining(): Promise<string> {
  await using stack = await startRunningStack();
  const pid = stack.processes.get('gateway-1')?.pid;
  if (!pid) throw new Error('the gateway is not running');
  const livez = `${stack.gateway}/livez`;
  await probe(livez, 2_000);
  resetPeak(pid);
  const usualMs = await probe(livez, 5_000);
  const usualMegabytes = peakMegabytes(pid);
  const { port, hostname } = new URL(stack.gateway);
  const target = { port: Number(port), host: hostname };
  const attack = openGreedyClients(target);
  const attackedMs = await probe(livez, ATTACK_MS);
  const attackedMegabytes = peakMegabytes(pid);
  const open = attack.end();
  const unfinishedMs = await measureUnfinishedHead(target);
  return [
    '',
    `${CONNECTIONS} connections, ${(BYTES / 1_000_000).toFixed(1)} MB of requests, ${READ_BYTES} bytes read every ${READ_INTERVAL_MS} ms`,
    '',
    '| | gateway MB, peak | slowest /livez ms |',
    '|---|---|---|',
    `| before the requests | ${usualMegabytes} | ${usualMs.toFixed(0)} |`,
    `| in the ${ATTACK_MS / 1000} s after them | ${attackedMegabytes} | ${attackedMs.toFixed(0)} |`,
    '',
    `connections still open then: ${open}; an unfinished request head was ended after ${(unfinishedMs / 1000).toFixed(1)} s`,
  ].join('\n');
}

interface Target {
  readonly host: string;
  readonly port: number;
}

function openGreedyClients(target: Target) {
  const requests = REQUEST.repeat(Math.floor(BYTES / CONNECTIONS / REQUEST.length));
  const sockets = Array.from({ length: CONNECTIONS }, () => {
    const socket = connect(target).pause();
    socket.on('error', () => undefined).write(requests);
    return socket;
  });
  const reading = setInterval(() => {
    for (const socket of sockets) {
      socket.read(READ_BYTES);
      // The system tells a client of the end of its connection when it writes.
      if (socket.writable) socket.write('\r\n');
    }
  }, READ_INTERVAL_MS);
  return {
    /** Returns how many connections were open. */
    end(): number {
      clearInterval(reading);
      const open = sockets.filter(({ destroyed }) => !destroyed).length;
      for (const socket of sockets) socket.destroy();
      return open;
    },
  };
}

/** The slowest answer within the time, in milliseconds. */
async function probe(url: string, forMs: number): Promise<number> {
  const end = performance.now() + forMs;
  let slowest = 0;
  while (performance.now() < end) {
    const sentAt = performance.now();
    await fetch(url).then((answer) => answer.text());
    slowest = Math.max(slowest, performance.now() - sentAt);
    await pause(PROBE_INTERVAL_MS);
  }
  return slowest;
}

async function measureUnfinishedHead(target: Target): Promise<number> {
  const socket = connect(target).resume();
  const startedAt = performance.now();
  socket.write('GET /livez HTTP/1.1\r\n');
  await once(socket, 'close', { signal: AbortSignal.timeout(UNFINISHED_LIMIT_MS) });
  return performance.now() - startedAt;
}
