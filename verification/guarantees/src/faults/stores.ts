import { asAdmin } from '@phds/running-system/outages';
import type { Edge } from '@phds/running-system/proxied-stack';
import type { MessageMode } from '@phds/test-kit/published-message-fault';
import { Redis } from 'ioredis';
import { PROOF_USED_ELSEWHERE } from '../load/reads.ts';
import { again, disturb, type Fault, type Site } from './fault.ts';
import { spoil } from './network.ts';

const SLOW_POSTGRES_MS = 80;
const LOCK_MS = 3_000;
const EVERY_MS = 5_000;
const POSTGRES_EDGES: readonly Edge[] = [
  'authorization→postgres',
  'consent→postgres',
  'health-data→postgres',
];
const ROLES = ['phds_consent', 'phds_health_data', 'phds_authorization'] as const;
const LOCKED = [
  ['consent.access_batch'],
  ['consent.consent_grant'],
  ['consent.app', 'consent.revoked_family', 'consent.revoked_token'],
] as const;

// A full disk refuses every write with SQLSTATE 53100, while reads still work.
const FULL = `
  CREATE OR REPLACE FUNCTION public.faults_disk_full() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full';
  END $$`;
const TABLES = `
  SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname IN ('consent', 'authorization', 'health_data') AND c.relkind IN ('r', 'p') AND NOT c.relispartition`;

/** Makes every write fail, or stops that. One table at a time, so that it never waits for a lock while holding another. */
async function fillDisk({ stack }: Site, full: boolean): Promise<void> {
  await asAdmin(stack, async (admin) => {
    if (full) await admin.query(FULL);
    const { rows } = await admin.query<{ name: string }>(TABLES);
    for (const { name } of rows) {
      const trigger = full
        ? `CREATE TRIGGER faults_disk_full BEFORE INSERT OR UPDATE ON ${name}
           FOR EACH STATEMENT EXECUTE FUNCTION public.faults_disk_full()`
        : `DROP TRIGGER IF EXISTS faults_disk_full ON ${name}`;
      await admin.query(trigger);
    }
  });
}

/** Another session locks a table until the disposal. */
export function lockTable(
  { stack }: Pick<Site, 'stack'>,
  table: string,
  mode: string,
): AsyncDisposable & { readonly held: Promise<void> } {
  const held = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const locking = asAdmin(stack, async (admin) => {
    await admin.query('BEGIN');
    await admin.query(`LOCK TABLE ${table} IN ${mode} MODE`);
    held.resolve();
    await released.promise;
    await admin.query('ROLLBACK');
  });
  return {
    held: Promise.race([held.promise, locking]),
    async [Symbol.asyncDispose]() {
      released.resolve();
      await locking;
    },
  };
}

/** Prevents sessions of a role until `undo`, and ends existing ones. */
async function takeConnections({ stack }: Site, undo: AsyncDisposableStack, role: string): Promise<void> {
  const limit = (connections: number) =>
    asAdmin(stack, async (admin) => {
      await admin.query(`ALTER ROLE ${role} CONNECTION LIMIT ${connections}`);
    });
  undo.defer(() => limit(-1));
  await limit(0);
  const end = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1';
  await asAdmin(stack, (admin) => admin.query(end, [role]));
}

export const POSTGRES_FAULTS: readonly Fault[] = [
  {
    name: 'postgres-slow',
    what: `every word to and from the database takes ${SLOW_POSTGRES_MS} ms`,
    play: disturb((site, undo) =>
      spoil(site, undo, POSTGRES_EDGES, { kind: 'delay', milliseconds: SLOW_POSTGRES_MS }),
    ),
  },
  {
    name: 'postgres-out-of-connections',
    what: 'the database has no connections left, for one service after the other',
    play: disturb(
      async (site, undo, turn) => {
        const role = ROLES[turn % ROLES.length] as string;
        undo.defer(() => site.say(`connections for ${role} again`));
        await takeConnections(site, undo, role);
        site.say(`no connections left for ${role}`);
      },
      { everyMs: EVERY_MS, share: 0.7 },
    ),
  },
  {
    name: 'postgres-disk-full',
    what: 'every write is refused because the disk is full (a trigger raises 53100 on each table)',
    play: disturb(
      async (site, undo) => {
        undo.defer(() => site.say('there is room again'));
        undo.defer(() => fillDisk(site, false));
        await fillDisk(site, true);
        site.say('the disk is full');
      },
      { everyMs: EVERY_MS * 1.5, share: 0.6 },
    ),
  },
  {
    name: 'postgres-locks-held',
    what: 'another session holds locks on the tables that recording and judging need',
    play: disturb(
      async (site, undo, turn) => {
        const tables = LOCKED[turn % LOCKED.length] ?? [];
        // One session for each table: a session that takes several locks could deadlock with one that takes them in another order.
        const locks = tables.map((table) => undo.use(lockTable(site, table, 'ACCESS EXCLUSIVE')));
        await Promise.all(locks.map(({ held }) => held));
        site.say(`${tables.join(', ')} locked`);
      },
      { everyMs: EVERY_MS, share: 0.7, mostMs: LOCK_MS },
    ),
  },
];

const FLUSH_EVERY_MS = 250;
/** Longer than the services' limit for Redis. */
const SLOW_REDIS_MS = 400;
const REDIS_EDGES: readonly Edge[] = ['gateway→redis', 'consent→redis'];

function tamper(name: string, what: string, mode: MessageMode): Fault {
  return {
    name,
    what,
    needs: 'Redis',
    play: disturb(({ stack: { publishedMessages }, say }, undo) => {
      const before = publishedMessages.touched;
      publishedMessages.mode = mode;
      undo.defer(() => {
        publishedMessages.mode = 'pass';
        say(`${publishedMessages.touched - before} messages: ${mode}`);
      });
    }),
  };
}

export const REDIS_FAULTS: readonly Fault[] = [
  {
    name: 'redis-flush',
    what: 'everything in Redis is removed, four times a second',
    needs: 'Redis',
    excuses: [PROOF_USED_ELSEWHERE],
    play: async (site) => {
      const redis = new Redis(site.stack.redis.url ?? '');
      try {
        await again(site, FLUSH_EVERY_MS, async (_turn, milliseconds) => {
          await redis.flushall();
          await redis.script('FLUSH');
          await site.sleep(milliseconds);
        });
      } finally {
        redis.disconnect();
      }
    },
  },
  {
    name: 'redis-slow',
    what: 'every answer of Redis exceeds the timeouts of its clients',
    needs: 'Redis',
    excuses: [PROOF_USED_ELSEWHERE],
    play: disturb((site, undo) =>
      spoil(site, undo, REDIS_EDGES, { kind: 'delay', milliseconds: SLOW_REDIS_MS }),
    ),
  },
  tamper('redis-swallowed-events', 'gateways stay subscribed and hear of no eviction', 'swallow'),
  tamper('redis-duplicated-events', 'gateways hear of every eviction twice', 'duplicate'),
];
