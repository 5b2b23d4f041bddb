import { setTimeout as delay } from 'node:timers/promises';
import { asAdmin } from '@phds/faults/faults/admin';
import { lockOutOfDatabase } from '@phds/running-system/outages';
import { type Cause, CONSEQUENCES, type End } from './cause.ts';
import { readAtOnce, repeat } from './load.ts';
import type { Site } from './site.ts';

/** Longer than the patience of the recorder (ACCESS_QUEUE_WAIT_MS), shorter than a deadline. */
const LOCK_MS = 1_500;
const UNLOCKED_MS = 100;
const MANY_READERS = 400;
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
  const held = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const locking = asAdmin(site.stack, async (admin) => {
    await admin.query('BEGIN');
    await admin.query(`LOCK TABLE ${table} IN ${mode} MODE`);
    held.resolve();
    await released.promise;
    await admin.query('ROLLBACK');
  });
  await Promise.race([held.promise, locking]);
  return async () => {
    released.resolve();
    await locking;
  };
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
  const unlock = lockAgainAndAgain(site, 'consent.access_batch', 'ACCESS EXCLUSIVE');
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

export const DATABASE_CAUSES: readonly Cause[] = [
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
    what: `another session locks the access records, ${LOCK_MS} ms at a time`,
    also: [...CONSEQUENCES, 'DatabasePoolExhausted', 'BackgroundTaskFailing'],
    begin: async (site) => lockAgainAndAgain(site, 'consent.access_batch', 'ACCESS EXCLUSIVE'),
  },
  {
    alert: 'AccessQueueLong',
    what: `the same, under ${MANY_READERS} requests at once`,
    also: [
      ...CONSEQUENCES,
      'AccessesNotRecorded',
      'DatabasePoolExhausted',
      'BackgroundTaskFailing',
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
