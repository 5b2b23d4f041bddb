import { asAdmin } from '@phds/running-system/outages';
import type { Edge } from '@phds/running-system/proxied-stack';
import type { MessageMode } from '@phds/test-kit/published-message-fault';
import { Redis } from 'ioredis';
import { again, type Fault, type Site } from './fault.ts';

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

async function lock({ stack, say, sleep }: Site, table: string, milliseconds: number): Promise<void> {
  await asAdmin(stack, async (admin) => {
    await admin.query('BEGIN');
    await admin.query(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
    say(`${table} locked`);
    await sleep(milliseconds);
    await admin.query('ROLLBACK');
  });
}

/** Prevents sessions of a role and ends existing ones. Returns a function that restores access. */
async function takeConnections({ stack }: Site, role: string): Promise<() => Promise<void>> {
  const limit = (connections: number) =>
    asAdmin(stack, async (admin) => {
      await admin.query(`ALTER ROLE ${role} CONNECTION LIMIT ${connections}`);
      if (connections === 0) {
        await admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1', [
          role,
        ]);
      }
    });
  await limit(0);
  return () => limit(-1);
}

export const POSTGRES_FAULTS: readonly Fault[] = [
  {
    name: 'postgres-slow',
    what: `every word to and from the database takes ${SLOW_POSTGRES_MS} ms`,
    play: async ({ stack, sleep, milliseconds }) => {
      for (const edge of POSTGRES_EDGES)
        stack.proxies[edge].set({ kind: 'delay', milliseconds: SLOW_POSTGRES_MS });
      try {
        await sleep(milliseconds);
      } finally {
        for (const edge of POSTGRES_EDGES) stack.proxies[edge].set({ kind: 'pass' });
      }
    },
  },
  {
    name: 'postgres-out-of-connections',
    what: 'the database has no connections left, for one service after the other',
    play: (site) =>
      again(site, EVERY_MS, async (turn, milliseconds) => {
        const role = ROLES[turn % ROLES.length] as string;
        const giveBack = await takeConnections(site, role);
        site.say(`no connections left for ${role}`);
        try {
          await site.sleep(milliseconds * 0.7);
        } finally {
          await giveBack();
          site.say(`connections for ${role} again`);
        }
        await site.sleep(milliseconds * 0.3);
      }),
  },
  {
    name: 'postgres-disk-full',
    what: 'every write is refused because the disk is full (a trigger raises 53100 on each table)',
    play: (site) =>
      again(site, EVERY_MS * 1.5, async (_turn, milliseconds) => {
        try {
          await fillDisk(site, true);
          site.say('the disk is full');
          await site.sleep(milliseconds * 0.6);
        } finally {
          await fillDisk(site, false);
          site.say('there is room again');
        }
        await site.sleep(milliseconds * 0.4);
      }),
  },
  {
    name: 'postgres-locks-held',
    what: 'another session holds locks on the tables that recording and judging need',
    play: (site) =>
      again(site, EVERY_MS, async (turn, milliseconds) => {
        const tables = LOCKED[turn % LOCKED.length] ?? [];
        const lockMs = Math.min(LOCK_MS, milliseconds * 0.7);
        // One session for each table: a session that takes several locks could deadlock with one that takes them in another order.
        await Promise.all(tables.map((table) => lock(site, table, lockMs)));
        await site.sleep(milliseconds - lockMs);
      }),
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
    needsRedis: true,
    play: async ({ stack: { publishedMessages }, say, sleep, milliseconds }) => {
      const before = publishedMessages.touched;
      publishedMessages.mode = mode;
      try {
        await sleep(milliseconds);
      } finally {
        publishedMessages.mode = 'pass';
        say(`${publishedMessages.touched - before} messages: ${mode}`);
      }
    },
  };
}

export const REDIS_FAULTS: readonly Fault[] = [
  {
    name: 'redis-flush',
    what: 'everything in Redis is removed, four times a second',
    needsRedis: true,
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
    needsRedis: true,
    play: async ({ stack, sleep, milliseconds }) => {
      for (const edge of REDIS_EDGES) stack.proxies[edge].set({ kind: 'delay', milliseconds: SLOW_REDIS_MS });
      try {
        await sleep(milliseconds);
      } finally {
        for (const edge of REDIS_EDGES) stack.proxies[edge].set({ kind: 'pass' });
      }
    },
  },
  tamper('redis-swallowed-events', 'gateways stay subscribed and hear of no eviction', 'swallow'),
  tamper('redis-duplicated-events', 'gateways hear of every eviction twice', 'duplicate'),
];
