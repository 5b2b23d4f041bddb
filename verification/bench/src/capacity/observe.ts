import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { measureCpu, ownCpuSeconds } from '../processes.ts';
import {
  DATABASES,
  type DatabaseName,
  type RowBytes,
  SERVICES,
  type ServiceName,
  type UnitCost,
} from './model.ts';

/** What is observed while some work runs: the processes and the database server. */
export interface Observed {
  readonly processes: ReadonlyMap<string, number>;
  /** Superuser. */
  readonly admin: pg.Client;
}

/** Counters of the database server. */
interface Counters {
  readonly walBytes: number;
  readonly fullPages: number;
  readonly transactions: number;
  /** Pages of tables and indexes that were read, in memory or not, by service. */
  readonly pages: Readonly<Record<string, number>>;
  /** CPU seconds by process id, and the service of the connection. */
  readonly backends: ReadonlyMap<number, { readonly service: string; readonly seconds: number }>;
}

const ROLES: Readonly<Record<string, DatabaseName>> = {
  phds_authorization: 'authorization',
  phds_consent: 'consent',
  phds_health_data: 'health-data',
};

/** Runs work that returns how many pieces it did, and divides what it took by them. */
export async function observe(
  { processes, admin }: Observed,
  work: () => Promise<number>,
): Promise<UnitCost> {
  const before = await readCounters(admin);
  const trafficBefore = readTraffic(processes);
  const begun = performance.now();
  const { result: count, cpu } = await measureCpu(processes, work);
  const seconds = (performance.now() - begun) / 1000;
  const trafficAfter = readTraffic(processes);
  const after = await readCounters(admin);
  const each = (value: number) => value / count;
  const micros = (value: number) => each(value * 1_000_000);
  const database = toRecord(DATABASES, (name) => micros(secondsOf(name, before, after)));
  const connections = Object.values(database).reduce((a, b) => a + b, 0);
  return {
    count,
    perSecond: count / seconds,
    service: toRecord(SERVICES, (name) => micros(sumOf(cpu, name))),
    database,
    background: Math.max(0, micros(cpu['postgres'] ?? 0) - connections),
    redis: micros(cpu['redis'] ?? 0),
    traffic: toRecord(SERVICES, (name) => each(sumOf(trafficAfter, name) - sumOf(trafficBefore, name))),
    walBytes: each(after.walBytes - before.walBytes),
    fullPages: each(after.fullPages - before.fullPages),
    transactions: each(after.transactions - before.transactions),
    pages: toRecord(DATABASES, (name) => each((after.pages[name] ?? 0) - (before.pages[name] ?? 0))),
  };
}

/** CPU of the connections of a service. One that was opened meanwhile counts from its beginning. */
function secondsOf(service: DatabaseName, before: Counters, after: Counters): number {
  return [...after.backends]
    .filter(([, backend]) => backend.service === service)
    .reduce((sum, [pid, { seconds }]) => sum + seconds - (before.backends.get(pid)?.seconds ?? 0), 0);
}

/** A service may have several processes: `gateway-1`, `consent`, `consent-2`. */
function sumOf(values: Readonly<Record<string, number>>, service: ServiceName): number {
  const own = Object.entries(values).filter(([name]) => name.replace(/-\d+$/, '') === service);
  return own.reduce((sum, [, value]) => sum + value, 0);
}

function toRecord<Name extends string>(
  names: readonly Name[],
  of: (name: Name) => number,
): Record<Name, number> {
  return Object.fromEntries(names.map((name) => [name, of(name)])) as Record<Name, number>;
}

const PAGES = `
  SELECT schemaname AS schema, sum(coalesce(heap_blks_read + heap_blks_hit, 0) + coalesce(idx_blks_read + idx_blks_hit, 0))::float8 AS n
  FROM pg_statio_all_tables WHERE schemaname IN ('authorization', 'consent', 'health_data') GROUP BY 1`;

/** A connection reports what it counted when it has been idle for a second. */
const STATISTICS_DELAY_MS = 1_500;

async function readCounters(admin: pg.Client): Promise<Counters> {
  await delay(STATISTICS_DELAY_MS);
  const { rows: pages } = await admin.query<{ schema: string; n: number }>(PAGES);
  const { rows: wal } = await admin.query('SELECT wal_bytes, wal_fpi FROM pg_stat_wal');
  const { rows: commits } = await admin.query('SELECT sum(xact_commit) AS n FROM pg_stat_database');
  const { rows } = await admin.query<{ pid: number; usename: string }>(
    "SELECT pid, usename FROM pg_stat_activity WHERE backend_type = 'client backend'",
  );
  const backends = rows.map(({ pid, usename }) => {
    return [pid, { service: ROLES[usename] ?? 'other', seconds: ownCpuSeconds(pid) }] as const;
  });
  return {
    walBytes: Number(wal[0].wal_bytes),
    fullPages: Number(wal[0].wal_fpi),
    transactions: Number(commits[0].n),
    pages: Object.fromEntries(pages.map(({ schema, n }) => [schema.replace('_', '-'), n])),
    backends: new Map(backends),
  };
}

/** proc(5): bytes that the process passed to read and write calls, which for these are nearly all network. */
function readTraffic(processes: ReadonlyMap<string, number>): Record<string, number> {
  const entries = [...processes].map(([name, pid]) => {
    const text = readFileSync(`/proc/${pid}/io`, 'utf8');
    const [read, written] = ['rchar', 'wchar'].map((key) =>
      Number(new RegExp(`${key}: (\\d+)`).exec(text)?.[1]),
    );
    return [name, (read ?? 0) + (written ?? 0)] as const;
  });
  return Object.fromEntries(entries);
}

const SIZES = `
  SELECT n.nspname || '.' || c.relname AS name,
    coalesce((SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree(c.oid) WHERE c.relkind = 'p'),
      pg_total_relation_size(c.oid))::float8 AS bytes
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = ANY($1) AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname <> '_prisma_migrations'`;

/** Rows and bytes of all tables of the schemas, with indexes and partitions. */
export async function readTables(
  client: pg.ClientBase,
  schemas: readonly string[],
): Promise<Record<string, RowBytes>> {
  const { rows } = await client.query<{ name: string; bytes: number }>(SIZES, [schemas]);
  const tables: Record<string, RowBytes> = {};
  for (const { name, bytes } of rows) {
    const table = name
      .split('.')
      .map((part) => client.escapeIdentifier(part))
      .join('.');
    const { rows: counted } = await client.query(`SELECT count(*)::int AS n FROM ${table}`);
    tables[name] = { rows: counted[0].n, bytes };
  }
  return tables;
}

/** What was added: rows, and bytes for each. Tables without new rows are left out. */
export function toGrowth(
  before: Readonly<Record<string, RowBytes>>,
  after: Readonly<Record<string, RowBytes>>,
): Record<string, RowBytes> {
  const grown = Object.entries(after).flatMap(([name, { rows, bytes }]) => {
    const added = rows - (before[name]?.rows ?? 0);
    if (added <= 0) return [];
    return [[name, { rows: added, bytes: (bytes - (before[name]?.bytes ?? 0)) / added }] as const];
  });
  return Object.fromEntries(grown);
}
