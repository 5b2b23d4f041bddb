import { rejects } from 'node:assert/strict';
import { cp, rm, writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { AppOperatorService } from '@phds/contracts/phds/authorization/v1/operator_pb';
import { RestoreService } from '@phds/contracts/phds/common/v1/restore_pb';
import { AccessService } from '@phds/contracts/phds/consent/v1/access_pb';
import { lockTable } from '@phds/guarantees/faults/stores';
import { callInternally } from '@phds/running-system/ingestion';
import { asAdmin, lockOutOfDatabase, type StoppedDatabase, stopDatabase } from '@phds/running-system/outages';
import { expectStatus, registerApp } from '@phds/running-system/partner-app';
import { send } from '@phds/running-system/request';
import { processOf, restartProcess } from '@phds/running-system/running-stack';
import { eventually } from '@phds/test-kit/conditions';
import { listenOnLoopback } from '@phds/test-kit/loopback';
import { connectAndRevoke, readAtOnce, repeat, type Site } from './site.ts';

/** Undoes a cause. */
type End = () => Promise<void>;

/** A fault that makes an alert fire. */
export interface Cause {
  readonly alert: string;
  /** For alerts with rules of several severities. */
  readonly severity?: string;
  /** The fault, in a few words. */
  readonly what: string;
  /** Alerts that may fire too, because the fault has these consequences. */
  readonly also?: readonly string[];
  begin(site: Site): Promise<End>;
}

/** What fails when requests fail. */
const CONSEQUENCES = ['GatewayErrors', 'RpcErrors', 'ProbeFailing', 'GatewaySlow'] as const;

const STOPPED_MS = 400;
/** So short that one stop is more than a hundredth of the samples of a scrape (one each 10 ms), which the alert looks at. */
const RUNNING_MS = 100;
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
    for (const name of ['health-data', 'gateway-2']) await restartProcess(stack, name);
  };
  await writeFile(brokenBuild, '');
  await both();
  return async () => {
    await rm(brokenBuild);
    await both();
  };
}

/** In the place of a gateway, something answers scrapes that has a certificate which ends tomorrow. */
async function endCertificate({ stack }: Site): Promise<End> {
  const gateway = processOf(stack, 'gateway-2');
  await gateway.stop();
  const end = Date.now() / 1000 + 24 * 3600;
  const server = createServer((_request, response) =>
    response
      .writeHead(200, { 'Content-Type': 'text/plain; version=0.0.4' })
      .end(`phds_certificate_expiry_timestamp_seconds{setting="TLS_CERT"} ${end}\n`),
  );
  await listenOnLoopback(server, Number(new URL(stack.gatewayProbeUrls[1] ?? '').port));
  return async () => {
    server.closeAllConnections();
    server.close();
    await gateway.start();
  };
}

async function suspendProbe({ stack, probe: { clientId } }: Site): Promise<End> {
  const call = { service: 'authorization', caller: 'operator', reason: 'the proof of an alert' } as const;
  const { suspendApp, liftAppLock } = AppOperatorService.method;
  await callInternally(stack, { ...call, rpc: suspendApp, request: { clientId, reason: 'proof' } });
  const request = { clientId, kind: 'APP_LOCK_KIND_SUSPENSION' };
  return async () => void (await callInternally(stack, { ...call, rpc: liftAppLock, request }));
}

async function stopProbe({ probe }: Site): Promise<End> {
  await probe.stop();
  return async () => probe.start();
}

const PROCESS_CAUSES: readonly Cause[] = [
  {
    alert: 'CallerRefused',
    what: 'the importer calls an rpc of consent that only health-data may call',
    begin: async ({ stack }) => {
      const call = {
        service: 'consent',
        rpc: AccessService.method.recordAccess,
        caller: 'importer',
      } as const;
      await rejects(callInternally(stack, call));
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
    alert: 'CertificateEnding',
    what: 'the certificate of one of two gateways ends tomorrow',
    also: ['ServiceDown'],
    begin: endCertificate,
  },
  {
    alert: 'EventLoopBlocked',
    what: `a gateway is stopped for ${STOPPED_MS} ms, again and again`,
    begin: (site) => stutter(site, 'gateway-2'),
  },
  {
    alert: 'ProbeFailing',
    what: 'the app of the probe is suspended',
    begin: suspendProbe,
  },
  {
    alert: 'ProbeNotRunning',
    what: 'the probe is stopped',
    begin: stopProbe,
  },
  {
    alert: 'WebhooksLate',
    what: `one sender, and receivers that take ${RECEIVER_MS / 1000} s for each of ${RECEIVERS * EVENTS} events`,
    begin: receiveSlowly,
  },
  {
    alert: 'GatewaySlow',
    what: `every byte between the gateways and health-data takes ${SLOW_MS} ms`,
    // On a busy machine a request of the probe then takes longer than its deadline.
    also: ['ProbeFailing'],
    begin: async ({ stack: { proxies } }) => {
      proxies['gateway→health-data'].set({ kind: 'delay', milliseconds: SLOW_MS });
      return async () => proxies['gateway→health-data'].set({ kind: 'pass' });
    },
  },
  {
    alert: 'GatewayErrors',
    what: 'the gateways cannot connect to health-data',
    also: ['ProbeFailing'],
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

/** Longer than the patience of the recorder (ACCESS_QUEUE_WAIT_MS), shorter than a deadline. */
const LOCK_MS = 1_500;
const UNLOCKED_MS = 100;
const MANY_READERS = 600;
const MANY_TOKENS = 40;

async function run({ stack }: Site, sql: string): Promise<void> {
  await asAdmin(stack, async (admin) => void (await admin.query(sql)));
}

/** Takes a right from a service, and gives it back at the end. */
async function takeRight(site: Site, right: string, table: string, role: string): Promise<End> {
  await run(site, `REVOKE ${right} ON ${table} FROM ${role}`);
  return () => run(site, `GRANT ${right} ON ${table} TO ${role}`);
}

/** Another session locks a table until the end. */
async function lock(site: Site, table: string, mode: string): Promise<End> {
  const locking = lockTable(site, table, mode);
  await locking.held;
  return async () => void (await locking[Symbol.asyncDispose]());
}

/** Another session locks a table for a while, again and again. */
function lockAgainAndAgain(site: Site, table: string, mode: string): End {
  const ending = new AbortController();
  const locking = repeat(UNLOCKED_MS, ending.signal, async () => {
    const release = await lock(site, table, mode);
    await delay(LOCK_MS);
    await release();
  });
  return async () => {
    ending.abort();
    await locking;
  };
}

async function readMany(site: Site): Promise<End> {
  const ending = new AbortController();
  // Without a pause, in which the queue would empty.
  const unlock = await lock(site, 'consent.access_batch', 'ACCESS EXCLUSIVE');
  const reading = readAtOnce(site, MANY_READERS, ending.signal);
  return async () => {
    ending.abort();
    await unlock();
    await reading;
  };
}

async function waitForConnections(site: Site): Promise<End> {
  const ending = new AbortController();
  const unlock = await lock(site, '"authorization".app', 'ACCESS EXCLUSIVE');
  const { app } = site.person;
  const asking = Promise.all(
    Array.from({ length: MANY_TOKENS }, () => repeat(0, ending.signal, () => app.userlessToken())),
  );
  return async () => {
    ending.abort();
    await unlock();
    await asking;
  };
}

const DATABASE_CAUSES: readonly Cause[] = [
  {
    alert: 'CheckpointOld',
    what: 'another session locks the table of checkpoints against writes',
    also: ['BackgroundTaskFailing', 'DatabasePoolExhausted'],
    begin: (site) => lock(site, 'consent_audit.access_checkpoint', 'EXCLUSIVE'),
  },
  {
    alert: 'BackgroundTaskFailing',
    what: 'consent loses the right to write counts of accesses',
    begin: (site) => takeRight(site, 'INSERT, UPDATE', 'consent.access_day', 'phds_consent'),
  },
  {
    alert: 'DataChangesLate',
    what: 'consent loses the right to write events',
    also: [...CONSEQUENCES, 'BackgroundTaskFailing'],
    begin: (site) => takeRight(site, 'INSERT', 'consent.webhook_event', 'phds_consent'),
  },
  {
    alert: 'RpcErrors',
    what: 'health-data loses the right to read readings',
    also: [...CONSEQUENCES, 'BackgroundTaskFailing'],
    begin: (site) => takeRight(site, 'SELECT', 'health_data.reading', 'phds_health_data'),
  },
  {
    alert: 'RevocationsSlow',
    what: `another session locks the history of grants against writes, ${LOCK_MS} ms at a time`,
    also: [...CONSEQUENCES, 'DatabasePoolExhausted'],
    begin: async (site) => lockAgainAndAgain(site, 'consent.consent_event', 'EXCLUSIVE'),
  },
  {
    alert: 'AccessesNotRecorded',
    // A lock is no fault for it: health-data gives up first, so consent counts nothing.
    what: 'consent loses the right to write batches of accesses',
    also: [...CONSEQUENCES, 'DatabasePoolExhausted', 'BackgroundTaskFailing'],
    begin: (site) => takeRight(site, 'INSERT', 'consent.access_batch', 'phds_consent'),
  },
  {
    alert: 'AccessQueueLong',
    what: `another session locks the access records, under ${MANY_READERS} requests at once`,
    also: [
      ...CONSEQUENCES,
      'AccessesNotRecorded',
      'DatabasePoolExhausted',
      'BackgroundTaskFailing',
      'CheckpointOld',
      'EventLoopBlocked',
    ],
    begin: readMany,
  },
  {
    alert: 'DatabasePoolExhausted',
    what: `another session locks the apps of authorization, and ${MANY_TOKENS} clients ask for tokens`,
    also: [...CONSEQUENCES, 'ServiceNotReady', 'BackgroundTaskFailing'],
    begin: waitForConnections,
  },
  {
    alert: 'ServiceNotReady',
    what: 'authorization may not log in to its database',
    also: [...CONSEQUENCES, 'BackgroundTaskFailing', 'DatabasePoolExhausted'],
    begin: ({ stack }) => lockOutOfDatabase(stack, 'phds_authorization'),
  },
];

async function restartDatabase(
  { stack, servers }: Site,
  change: (directory: StoppedDatabase['directory']) => Promise<void>,
): Promise<void> {
  const stopped = await stopDatabase(stack);
  await change(stopped.directory);
  servers.push(await stopped.start());
}

/** Puts a backup back under the running services that was made before a revocation. */
async function restore(site: Site): Promise<End> {
  await restartDatabase(site, (directory) => cp(directory, `${directory}.backup`, { recursive: true }));
  await eventually(() => connectAndRevoke(site));
  await restartDatabase(site, async (directory) => {
    await rm(directory, { recursive: true });
    await cp(`${directory}.backup`, directory, { recursive: true });
  });
  return async () => {
    for (const service of ['consent', 'authorization'] as const)
      await eventually(() => confirm(site, service));
  };
}

async function confirm({ stack }: Site, service: 'consent' | 'authorization'): Promise<void> {
  const call = { service, caller: 'operator', reason: 'the cause of an alert ends' } as const;
  const { getRestoreStatus, confirmRestore } = RestoreService.method;
  const { latest } = await callInternally(stack, { ...call, rpc: getRestoreStatus });
  if (latest !== undefined && latest.confirmedAt === undefined) {
    const request = { number: latest.number };
    await callInternally(stack, { ...call, rpc: confirmRestore, request });
  }
}

const RESTORE_CAUSE: Cause = {
  alert: 'RestoreSuspended',
  what: 'a backup from before a revocation is put back under running services',
  also: [
    ...CONSEQUENCES,
    'AccessesNotRecorded',
    'BackgroundTaskFailing',
    'DatabasePoolExhausted',
    'ServiceNotReady',
    'RevocationsSlow',
    'DataChangesLate',
    'CheckpointOld',
  ],
  begin: restore,
};

/** One fault or more for each alert. The last one replaces the database. */
export const CAUSES: readonly Cause[] = [...PROCESS_CAUSES, ...DATABASE_CAUSES, RESTORE_CAUSE];

/** The causes of these alerts; all causes for no names. Throws an error that names an unknown alert. */
export function chooseCauses(names: readonly string[]): readonly Cause[] {
  const unknown = names.filter((name) => !CAUSES.some(({ alert }) => alert === name));
  if (unknown.length > 0) throw new Error(`There is no cause for ${unknown.join(', ')}.`);
  return names.length === 0 ? CAUSES : CAUSES.filter(({ alert }) => names.includes(alert));
}
