import { rm, writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { callInternally } from '@phds/running-system/ingestion';
import { expectStatus, registerApp } from '@phds/running-system/partner-app';
import { send } from '@phds/running-system/request';
import { eventually } from '@phds/test-kit/conditions';
import { listenOnLoopback } from '@phds/test-kit/loopback';
import { type Cause, CONSEQUENCES, type End } from './cause.ts';
import { repeat } from './load.ts';
import { processOf, restart, type Site } from './site.ts';

const STOPPED_MS = 400;
const RUNNING_MS = 400;
const SLOW_MS = 600;
/** Shorter than the time limit of an attempt. */
const RECEIVER_MS = 9_000;
const RECEIVERS = 2;
/** As many tests as an app may send in a minute. */
const EVENTS = 10;

const EVERYTHING = [
  ...CONSEQUENCES,
  'AccessesNotRecorded',
  'BackgroundTaskFailing',
  'DatabasePoolExhausted',
  'ServiceNotReady',
  'RedisUnreachable',
  'RevocationsSlow',
  'ServiceDown',
];

async function kill({ stack }: Site, name: string): Promise<End> {
  const killed = processOf(stack, name);
  await killed.kill();
  return () => killed.start();
}

/** Stops a process and lets it go on, again and again, as a machine without free processors does. */
async function stutter({ stack }: Site, name: string): Promise<End> {
  const { pid } = processOf(stack, name);
  if (pid === null) throw new Error(`${name} does not run`);
  const ending = new AbortController();
  const stuttering = repeat(RUNNING_MS, ending.signal, async () => {
    process.kill(pid, 'SIGSTOP');
    try {
      await delay(STOPPED_MS);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  });
  return async () => {
    ending.abort();
    await stuttering;
  };
}

/** One event after the other is sent to a receiver that takes its time. */
async function receiveSlowly({ stack, developer }: Site): Promise<End> {
  let isSlow = true;
  const waiting = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    request.resume();
    waiting.add(response);
    const answer = () => {
      waiting.delete(response);
      if (!response.writableEnded) response.writeHead(204).end();
    };
    if (isSlow) setTimeout(answer, RECEIVER_MS).unref();
    else answer();
  });
  const url = `http://127.0.0.1:${await listenOnLoopback(server)}/events`;
  for (let each = 0; each < RECEIVERS; each += 1) {
    const app = await registerApp(stack.gateway, developer);
    const webhook = `${stack.gateway}/developer/apps/${app.clientId}/webhook`;
    const json = { url, events: ['grant.revoked'] };
    expectStatus(201, await send(webhook, { method: 'PUT', bearer: developer, json }));
    for (let count = 0; count < EVENTS; count += 1) {
      await eventually(async () => {
        expectStatus(202, await send(`${webhook}/test`, { method: 'POST', bearer: developer }));
      });
    }
  }
  return async () => {
    isSlow = false;
    for (const response of waiting) response.writeHead(204).end();
    waiting.clear();
    server.unref();
  };
}

async function breakBuild({ stack, brokenBuild }: Site): Promise<End> {
  const both = async () => {
    for (const name of ['health-data', 'gateway-2']) await restart(stack, name);
  };
  await writeFile(brokenBuild, '');
  await both();
  return async () => {
    await rm(brokenBuild);
    await both();
  };
}

async function suspend({ stack, developer, selfTest }: Site): Promise<End> {
  const url = `${stack.gateway}/developer/apps/${selfTest.clientId}/status`;
  const set = async (status: string) =>
    void expectStatus(200, await send(url, { bearer: developer, json: { status } }));
  await set('suspended');
  return () => set('active');
}

export const PROCESS_CAUSES: readonly Cause[] = [
  {
    alert: 'CallerRefused',
    what: 'the importer calls an rpc of consent that only health-data may call',
    begin: async ({ stack }) => {
      const rpc = 'phds.consent.v1.AccessService/RecordAccess';
      const answer = await callInternally(stack, { service: 'consent', rpc, caller: 'importer' });
      if (answer.status < 400) throw new Error(`the call was answered with ${answer.status}`);
      return async () => undefined;
    },
  },
  {
    alert: 'AuthenticationsRefused',
    what: 'a wrong token is presented twenty times a second',
    begin: async ({ stack }) => {
      const present = () =>
        fetch(`${stack.gateway}/api/v1/profile`, { headers: { authorization: 'Bearer wrong' } });
      const timer = setInterval(() => void present().catch(() => undefined), 50);
      return async () => clearInterval(timer);
    },
  },
  {
    alert: 'ServiceDown',
    severity: 'warning',
    what: 'one of two gateways is killed',
    begin: (site) => kill(site, 'gateway-2'),
  },
  {
    alert: 'RedisUnreachable',
    what: 'Redis is killed',
    also: ['GatewaySlow'],
    begin: async ({ stack: { redis } }) => {
      await redis.stop();
      return () => redis.start();
    },
  },
  {
    alert: 'EventLoopBlocked',
    what: `a gateway is stopped for ${STOPPED_MS} ms, again and again`,
    begin: (site) => stutter(site, 'gateway-2'),
  },
  {
    alert: 'SelfTestFailing',
    what: 'the app of the self-test is suspended',
    begin: suspend,
  },
  {
    alert: 'WebhooksLate',
    what: `one sender, and receivers that take ${RECEIVER_MS / 1000} s for each of ${RECEIVERS * EVENTS} events`,
    begin: receiveSlowly,
  },
  {
    alert: 'GatewaySlow',
    what: `every byte between the gateways and health-data takes ${SLOW_MS} ms`,
    begin: async ({ stack: { proxies } }) => {
      proxies['gateway→health-data'].set({ kind: 'delay', milliseconds: SLOW_MS });
      return async () => proxies['gateway→health-data'].set({ kind: 'pass' });
    },
  },
  {
    alert: 'GatewayErrors',
    what: 'the gateways cannot connect to health-data',
    also: ['SelfTestFailing'],
    begin: async ({ stack: { proxies } }) => {
      await proxies['gateway→health-data'].cut();
      return () => proxies['gateway→health-data'].restore();
    },
  },
  {
    alert: 'StaleReadAfterRevocation',
    what: 'a build with defects: health-data ignores the verdict, and a gateway keeps what was evicted',
    // Both processes restart, which takes minutes of the shortened time.
    also: EVERYTHING,
    begin: breakBuild,
  },
  {
    alert: 'ServiceDown',
    severity: 'critical',
    what: 'consent is killed',
    also: EVERYTHING,
    begin: (site) => kill(site, 'consent'),
  },
];
