import { rejects } from 'node:assert/strict';
import { cp, rm, writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { AppOperatorService } from '@phds/contracts/phds/authorization/v1/operator_pb';
import { RestoreService } from '@phds/contracts/phds/common/v1/restore_pb';
import { AccessService } from '@phds/contracts/phds/consent/v1/access_pb';
import { spoil } from '@phds/guarantees/faults/network';
import { lockTable } from '@phds/guarantees/faults/stores';
import { callInternally } from '@phds/running-system/ingestion';
import { asAdmin, lockOutOfDatabase, type StoppedDatabase, stopDatabase } from '@phds/running-system/outages';
import { expectStatus, registerApp } from '@phds/running-system/partner-app';
import { send } from '@phds/running-system/request';
import { processOf, restartProcess } from '@phds/running-system/running-stack';
import { eventually } from '@phds/test-kit/conditions';
import { closeAtOnce, listenOnLoopback } from '@phds/test-kit/loopback';
import { connectAndRevoke, readAtOnce, repeat, type Site } from './site.ts';

/** A fault that makes an alert fire. */
export interface Cause {
  readonly alert: string;
  /** For alerts with rules of several severities. */
  readonly severity?: string;
  /** The fault, in a few words. */
  readonly what: string;
  /** The only other alerts that may fire; absent where a fault has many consequences. */
  readonly also?: readonly string[];
  /** Begins the fault. What it adds to `undo` ends it, also if the beginning fails. */
  begin(site: Site, undo: AsyncDisposableStack): unknown;
}

const STOPPED_MS = 400;
/** So short that one stop is more than a hundredth of the samples of a scrape (one each 10 ms), which the alert looks at. */
const RUNNING_MS = 100;
const SLOW_MS = 600;
/** Shorter than the time limit of an attempt. */
const RECEIVER_MS = 9_000;
const RECEIVERS = 2;
/** As many tests as an app may send in a minute. */
const EVENTS = 10;

async function kill({ stack }: Site, undo: AsyncDisposableStack, name: string): Promise<void> {
  const killed = processOf(stack, name);
  undo.defer(() => killed.start());
  await killed.kill();
}

/** Acts again and again, until `undo`. */
function keepOn(undo: AsyncDisposableStack, everyMs: number, act: () => Promise<unknown>): void {
  const ending = new AbortController();
  const acting = repeat(everyMs, ending.signal, act);
  undo.defer(async () => {
    ending.abort();
    await acting;
  });
}

/** Stops a process and lets it go on, again and again, as a machine without free processors does. */
function stutter({ stack }: Site, undo: AsyncDisposableStack, name: string): void {
  const { pid } = processOf(stack, name);
  if (pid === null) throw new Error(`${name} does not run`);
  keepOn(undo, RUNNING_MS, async () => {
    process.kill(pid, 'SIGSTOP');
    try {
      await delay(STOPPED_MS);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  });
}

/** One event after the other is sent to a receiver that takes its time. */
async function receiveSlowly({ stack, developer }: Site, undo: AsyncDisposableStack): Promise<void> {
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
  undo.defer(() => {
    isSlow = false;
    for (const response of waiting) response.writeHead(204).end();
    waiting.clear();
    server.unref();
  });
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
}

async function breakBuild({ stack, brokenBuild }: Site, undo: AsyncDisposableStack): Promise<void> {
  const restartBoth = async () => {
    for (const name of ['health-data', 'gateway-2']) await restartProcess(stack, name);
  };
  undo.defer(restartBoth);
  undo.defer(() => rm(brokenBuild));
  await writeFile(brokenBuild, '');
  await restartBoth();
}

/** In the place of a gateway, something answers scrapes that has a certificate which ends tomorrow. */
async function endCertificate({ stack }: Site, undo: AsyncDisposableStack): Promise<void> {
  const gateway = processOf(stack, 'gateway-2');
  undo.defer(() => gateway.start());
  await gateway.stop();
  const end = Date.now() / 1000 + 24 * 3600;
  const server = createServer((_request, response) =>
    response
      .writeHead(200, { 'Content-Type': 'text/plain; version=0.0.4' })
      .end(`phds_certificate_expiry_timestamp_seconds{setting="TLS_CERT"} ${end}\n`),
  );
  undo.defer(() => closeAtOnce(server));
  await listenOnLoopback(server, Number(new URL(stack.gatewayProbeUrls[1] ?? '').port));
}

async function suspendProbe({ stack, probe: { clientId } }: Site, undo: AsyncDisposableStack): Promise<void> {
  const call = { service: 'authorization', caller: 'operator', reason: 'the proof of an alert' } as const;
  const { suspendApp, liftAppLock } = AppOperatorService.method;
  const suspension = { ...call, rpc: suspendApp, request: { clientId, reason: 'proof' } };
  const { fingerprint: seenFingerprint } = (await callInternally(stack, suspension)).app;
  const request = { clientId, kind: 'APP_LOCK_KIND_SUSPENSION', seenFingerprint };
  undo.defer(() => callInternally(stack, { ...call, rpc: liftAppLock, request }));
}

const PROCESS_CAUSES: readonly Cause[] = [
  {
    alert: 'CallerRefused',
    what: 'the importer calls an rpc of consent that only health-data may call',
    also: [],
    begin: ({ stack }) => {
      const rpc = AccessService.method.recordAccess;
      return rejects(callInternally(stack, { service: 'consent', rpc, caller: 'importer' }));
    },
  },
  {
    alert: 'AuthenticationsRefused',
    what: 'a wrong token is presented twenty times a second',
    also: [],
    begin: ({ stack }, undo) => {
      const present = () =>
        fetch(`${stack.gateway}/api/v1/profile`, { headers: { authorization: 'Bearer wrong' } });
      const timer = setInterval(() => void present().catch(() => undefined), 50);
      undo.defer(() => clearInterval(timer));
    },
  },
  {
    alert: 'ServiceDown',
    severity: 'warning',
    what: 'one of two gateways is killed',
    also: [],
    begin: (site, undo) => kill(site, undo, 'gateway-2'),
  },
  {
    alert: 'RedisUnreachable',
    what: 'Redis is killed',
    also: ['GatewaySlow'],
    begin: ({ stack: { redis } }, undo) => {
      undo.defer(() => redis.start());
      return redis.stop();
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
    also: [],
    begin: (site, undo) => stutter(site, undo, 'gateway-2'),
  },
  {
    alert: 'ProbeFailing',
    what: 'the app of the probe is suspended',
    also: [],
    begin: suspendProbe,
  },
  {
    alert: 'ProbeNotRunning',
    what: 'the probe is stopped',
    also: ['ServiceDown'],
    begin: ({ probe }, undo) => {
      undo.defer(() => probe.start());
      return probe.stop();
    },
  },
  {
    alert: 'WebhooksLate',
    what: `one sender, and receivers that take ${RECEIVER_MS / 1000} s for each of ${RECEIVERS * EVENTS} events`,
    also: [],
    begin: receiveSlowly,
  },
  {
    alert: 'GatewaySlow',
    what: `every byte between the gateways and health-data takes ${SLOW_MS} ms`,
    // On a busy machine a request of the probe then takes longer than its deadline.
    also: ['ProbeFailing'],
    begin: (site, undo) =>
      spoil(site, undo, ['gateway→health-data'], { kind: 'delay', milliseconds: SLOW_MS }),
  },
  {
    alert: 'GatewayErrors',
    what: 'the gateways cannot connect to health-data',
    also: ['ProbeFailing'],
    begin: ({ stack: { proxies } }, undo) => {
      undo.defer(() => proxies['gateway→health-data'].restore());
      return proxies['gateway→health-data'].cut();
    },
  },
  {
    alert: 'StaleReadAfterRevocation',
    what: 'a build with defects: health-data ignores the verdict, and a gateway keeps what was evicted',
    begin: breakBuild,
  },
  {
    alert: 'ServiceDown',
    severity: 'critical',
    what: 'consent is killed',
    begin: (site, undo) => kill(site, undo, 'consent'),
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
function takeRight(right: string, table: string, role: string): Cause['begin'] {
  return async (site, undo) => {
    await run(site, `REVOKE ${right} ON ${table} FROM ${role}`);
    undo.defer(() => run(site, `GRANT ${right} ON ${table} TO ${role}`));
  };
}

/** Another session locks a table until the end. */
function lock(table: string, mode: string): (site: Site, undo: AsyncDisposableStack) => Promise<void> {
  return (site, undo) => undo.use(lockTable(site, table, mode)).held;
}

/** Another session locks a table for a while, again and again. */
function lockAgainAndAgain(table: string, mode: string): Cause['begin'] {
  return (site, undo) =>
    keepOn(undo, UNLOCKED_MS, async () => {
      await using locking = lockTable(site, table, mode);
      await locking.held;
      await delay(LOCK_MS);
    });
}

async function readMany(site: Site, undo: AsyncDisposableStack): Promise<void> {
  const ending = new AbortController();
  // Without a pause, in which the queue would empty.
  const reading = readAtOnce(site, MANY_READERS, ending.signal);
  undo.defer(() => reading);
  await lock('consent.access_batch', 'ACCESS EXCLUSIVE')(site, undo);
  undo.defer(() => ending.abort());
}

async function waitForConnections(site: Site, undo: AsyncDisposableStack): Promise<void> {
  const { app } = site.person;
  const ending = new AbortController();
  const asking = Array.from({ length: MANY_TOKENS }, () =>
    repeat(0, ending.signal, () => app.userlessToken()),
  );
  undo.defer(async () => void (await Promise.all(asking)));
  await lock('"authorization".app', 'ACCESS EXCLUSIVE')(site, undo);
  undo.defer(() => ending.abort());
}

const DATABASE_CAUSES: readonly Cause[] = [
  {
    alert: 'CheckpointOld',
    what: 'another session locks the table of checkpoints against writes',
    begin: lock('consent_audit.access_checkpoint', 'EXCLUSIVE'),
  },
  {
    alert: 'BackgroundTaskFailing',
    what: 'consent loses the right to write counts of accesses',
    also: [],
    begin: takeRight('INSERT, UPDATE', 'consent.access_day', 'phds_consent'),
  },
  {
    alert: 'DataChangesLate',
    what: 'consent loses the right to write events',
    begin: takeRight('INSERT', 'consent.webhook_event', 'phds_consent'),
  },
  {
    alert: 'RpcErrors',
    what: 'health-data loses the right to read readings',
    begin: takeRight('SELECT', 'health_data.reading', 'phds_health_data'),
  },
  {
    alert: 'RevocationsSlow',
    what: `another session locks the history of grants against writes, ${LOCK_MS} ms at a time`,
    begin: lockAgainAndAgain('consent.consent_event', 'EXCLUSIVE'),
  },
  {
    alert: 'AccessesNotRecorded',
    // A lock is no fault for it: health-data gives up first, so consent counts nothing.
    what: 'consent loses the right to write batches of accesses',
    begin: takeRight('INSERT', 'consent.access_batch', 'phds_consent'),
  },
  {
    alert: 'AccessQueueLong',
    what: `another session locks the access records, under ${MANY_READERS} requests at once`,
    begin: readMany,
  },
  {
    alert: 'DatabasePoolExhausted',
    what: `another session locks the apps of authorization, and ${MANY_TOKENS} clients ask for tokens`,
    begin: waitForConnections,
  },
  {
    alert: 'ServiceNotReady',
    what: 'authorization may not log in to its database',
    begin: async ({ stack }, undo) => undo.defer(await lockOutOfDatabase(stack, 'phds_authorization')),
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
async function restore(site: Site, undo: AsyncDisposableStack): Promise<void> {
  await restartDatabase(site, (directory) => cp(directory, `${directory}.backup`, { recursive: true }));
  await eventually(() => connectAndRevoke(site));
  await restartDatabase(site, async (directory) => {
    await rm(directory, { recursive: true });
    await cp(`${directory}.backup`, directory, { recursive: true });
  });
  undo.defer(async () => {
    for (const service of ['consent', 'authorization'] as const)
      await eventually(() => confirm(site, service));
  });
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
