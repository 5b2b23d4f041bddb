import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Assumptions, Server } from './assumptions.ts';

/** What `pnpm bench capacity` measured; the model and the page use nothing else. Written by the command, committed. */
export const COSTS_FILE = resolve(import.meta.dirname, '../../capacity-costs.json');

/** The processes of the service, and the rest of a deployment. */
export const SERVICES = ['gateway', 'authorization', 'consent', 'health-data'] as const;
export type ServiceName = (typeof SERVICES)[number];
export const DATABASES = ['authorization', 'consent', 'health-data'] as const;
export type DatabaseName = (typeof DATABASES)[number];

/** The cost of one piece of work, such as a read. */
export interface UnitCost {
  /** How many pieces were measured, and how many a second. */
  readonly count: number;
  readonly perSecond: number;
  /** CPU of the processes, in microseconds. */
  readonly service: Readonly<Record<ServiceName, number>>;
  /** CPU of the connections of each service in Postgres, in microseconds. */
  readonly database: Readonly<Record<DatabaseName, number>>;
  /** CPU of the processes of Postgres that belong to no connection (WAL, checkpoints, vacuum), in microseconds. */
  readonly background: number;
  readonly redis: number;
  /** Bytes that each process received and sent, by system calls. */
  readonly traffic: Readonly<Record<ServiceName, number>>;
  /** WAL bytes of all databases, with the full pages in them, and the number of these pages. */
  readonly walBytes: number;
  readonly fullPages: number;
  /** Transactions of all databases, reading ones included. */
  readonly transactions: number;
  /** Pages of 8 KiB that statements looked at, upper levels of indexes included. */
  readonly pages: Readonly<Record<DatabaseName, number>>;
}

/** Bytes of a row with its share of the indexes. */
export interface RowBytes {
  readonly rows: number;
  readonly bytes: number;
}

export interface Costs {
  readonly measuredAt: string;
  /** `uptime` at the beginning and at the end: other work made the load. */
  readonly loads: { readonly before: string; readonly after: string };
  readonly machine: string;
  /** The newest 20 readings of a category: as many as 32 connections can, and half as many. */
  readonly read: UnitCost;
  readonly readAtHalfRate: UnitCost;
  /** A refresh token for new tokens. */
  readonly refresh: UnitCost;
  /** A new connection: authorization request, the person's approval, exchange of the code. */
  readonly connection: UnitCost;
  /** A reading that is stored, in calls of `readingsPerCall`. */
  readonly reading: UnitCost;
  readonly readingsPerCall: number;
  /** By `schema.table`. */
  readonly rows: Readonly<Record<string, RowBytes>>;
  /** The same without the rows that refreshes and reads add: for each new connection. */
  readonly rowsOfConnections: Readonly<Record<string, RowBytes>>;
  /** Pages in the WAL for one call that stores readings of a person right after a checkpoint. */
  readonly fullPagesPerCall: number;
  /** Records of one batch in the measured reads. */
  readonly recordsPerBatch: number;
  /** Redis memory of one pair of app and person that read in the last minutes. */
  readonly redisBytesPerPair: number;
  /** Days that an access record is kept, by default. */
  readonly recordDays: number;
  /** Connections to Postgres that one replica of each service opens at most. */
  readonly connections: Readonly<Record<DatabaseName, number>>;
}

export function readCosts(): Costs {
  return JSON.parse(readFileSync(COSTS_FILE, 'utf8')) as Costs;
}

// Pure functions from measured costs and assumptions to what a rate of requests needs.

const DAY = 86_400;
const PAGE = 8_192;

/** Pieces of work a second. */
export interface Work {
  readonly reads: number;
  readonly refreshes: number;
  readonly connections: number;
  readonly readings: number;
}

export function toPeople(rate: number, a: Assumptions): number {
  return rate * a.peoplePerRequest;
}

/** What a rate of requests consists of, and what comes with the people who cause it. */
export function toWork(rate: number, a: Assumptions): Work {
  const people = toPeople(rate, a);
  const refreshes = rate / (a.readsPerRefresh + 1);
  return {
    reads: rate - refreshes,
    refreshes,
    connections: (people * a.appsPerPerson) / (a.daysPerConnection * DAY),
    readings: (people * a.readingsPerPersonAndDay) / DAY,
  };
}

/** Sums a part of the costs over all work, a second. */
export function sumWork(work: Work, costs: Costs, part: (cost: UnitCost) => number): number {
  return (
    work.reads * part(costs.readAtHalfRate) +
    work.refreshes * part(costs.refresh) +
    work.connections * part(costs.connection) +
    work.readings * part(costs.reading)
  );
}

export function toCores(service: ServiceName, work: Work, costs: Costs): number {
  return sumWork(work, costs, (cost) => cost.service[service]) / 1e6;
}

/** At least two, of which one may be down or restarting. A process uses one core. */
export function toReplicas(cores: number, a: Assumptions): number {
  return Math.max(2, Math.ceil(cores / a.utilisation));
}

/** The processes of Postgres without a connection are counted where most of the work is. */
export function toDatabaseCores(database: DatabaseName, work: Work, costs: Costs): number {
  const part = (cost: UnitCost) =>
    cost.database[database] + (busiestOf(cost) === database ? cost.background : 0);
  return sumWork(work, costs, part) / 1e6;
}

function busiestOf({ database }: UnitCost): DatabaseName {
  const [first, ...others] = DATABASES;
  return others.reduce<DatabaseName>(
    (busiest, name) => (database[name] > database[busiest] ? name : busiest),
    first,
  );
}

/** Bytes for each row of a table; 0 for one that the measurement did not fill. */
function bytesOf(rows: Readonly<Record<string, RowBytes>>, table: string): number {
  return rows[table]?.bytes ?? 0;
}

/** All tables of a schema, for one row of one of them. */
export function bytesPer(rows: Readonly<Record<string, RowBytes>>, schema: string, table: string): number {
  const own = Object.entries(rows).filter(([name]) => name.startsWith(`${schema}.`));
  const bytes = own.reduce((sum, [, row]) => sum + row.rows * row.bytes, 0);
  return bytes / (rows[`${schema}.${table}`]?.rows ?? Number.NaN);
}

/** An access record with its share of its batch. */
export function bytesPerRecord({ rows, recordsPerBatch }: Costs): number {
  return bytesOf(rows, 'consent.access_record') + bytesOf(rows, 'consent.access_batch') / recordsPerBatch;
}

/** Bytes that a database grows by in a day before anything is pruned. */
export function toDailyBytes(database: DatabaseName, rate: number, costs: Costs, a: Assumptions): number {
  const work = toWork(rate, a);
  const { rows, rowsOfConnections } = costs;
  const connected = work.connections * DAY;
  if (database === 'health-data') return work.readings * DAY * bytesPer(rows, 'health_data', 'reading');
  if (database === 'authorization') {
    const tokens = bytesOf(rows, 'authorization.access_token') + bytesOf(rows, 'authorization.refresh_token');
    return (
      work.refreshes * DAY * tokens + connected * bytesPer(rowsOfConnections, 'authorization', 'token_family')
    );
  }
  const counts =
    toPeople(rate, a) * a.appsPerPerson * a.countsPerAppAndDay * bytesOf(rows, 'consent.access_day');
  const grants = connected * bytesPer(rowsOfConnections, 'consent', 'consent_grant');
  return work.reads * DAY * bytesPerRecord(costs) + counts + grants;
}

/** Bytes of a database after so many days, with what is deleted by then. */
export function toBytesAfter(
  database: DatabaseName,
  days: number,
  rate: number,
  costs: Costs,
  a: Assumptions,
): number {
  const daily = toDailyBytes(database, rate, costs, a);
  if (database === 'consent') return daily * Math.min(days, costs.recordDays);
  if (database === 'health-data') return daily * days;
  const refreshes = toWork(rate, a).refreshes * DAY;
  // An access token is deleted two days after its end, a used refresh token after its 30 days, except every 32nd.
  const access = refreshes * bytesOf(costs.rows, 'authorization.access_token');
  const refresh = refreshes * bytesOf(costs.rows, 'authorization.refresh_token');
  const kept = access * Math.min(days, 2) + refresh * (Math.min(days, 30) + Math.max(0, days - 30) / 32);
  return (daily - access - refresh) * days + kept;
}

/** Pages that are expected to change at least once, when changes hit pages at random. */
export function distinctPages(changes: number, pages: number): number {
  return pages <= 0 ? 0 : pages * -Math.expm1(-changes / pages);
}

/**
 * Bytes a second of full pages in the WAL of consent. The index of records by person gets each entry in another leaf page, because the next
 * record is of somebody else. The index of a month has its own pages.
 */
export function toFullPageBytes(reads: number, a: Assumptions): number {
  const monthly = (reads * DAY * 30 * a.indexEntryBytes) / (PAGE * a.leafFill);
  // Half of the month's pages are there on average.
  return (distinctPages(reads * a.checkpointSeconds, monthly / 2) * PAGE) / a.checkpointSeconds;
}

/** WAL bytes a second. */
export function toWalBytes(database: DatabaseName, rate: number, costs: Costs, a: Assumptions): number {
  const work = toWork(rate, a);
  if (database === 'consent') {
    const half = (work.connections * costs.connection.walBytes) / 2;
    return work.reads * costs.readAtHalfRate.walBytes + half + toFullPageBytes(work.reads, a);
  }
  if (database === 'authorization')
    return work.refreshes * costs.refresh.walBytes + (work.connections * costs.connection.walBytes) / 2;
  // Every call of a person is the first on its pages after a checkpoint when there are many people.
  const pages = (costs.fullPagesPerCall * PAGE) / costs.readingsPerCall;
  return work.readings * (costs.reading.walBytes + pages);
}

/** Random pages a second that come from disk: those leaves and rows that memory does not hold. */
export function toDiskPages(
  database: DatabaseName,
  { rate, days }: { readonly rate: number; readonly days: number },
  costs: Costs,
  server: Server,
  a: Assumptions,
): number {
  const bytes = toBytesAfter(database, days, rate, costs, a);
  const cold = Math.max(0, 1 - server.memoryBytes / bytes);
  const work = toWork(rate, a);
  const looked = sumWork({ ...work, readings: 0 }, costs, (cost) => cost.pages[database]) * a.leafShare;
  // The readings of a call are next to each other: the pages that it changes are those that it needs.
  const perReading = database === 'health-data' ? costs.fullPagesPerCall / costs.readingsPerCall : 0;
  return (looked + work.readings * perReading) * cold;
}

export function toNetworkBytes(service: ServiceName, work: Work, costs: Costs): number {
  return sumWork(work, costs, (cost) => cost.traffic[service]);
}

export function toRedisBytes(rate: number, costs: Costs, a: Assumptions): number {
  return toPeople(rate, a) * a.appsPerPerson * a.activePairs * costs.redisBytesPerPair;
}

export type Resource = 'cores' | 'disk' | 'WAL' | 'disk reads' | 'connections';

/** Need as a multiple of what the server has, by resource. */
export function toLoad(
  database: DatabaseName,
  { rate, days }: { readonly rate: number; readonly days: number },
  costs: Costs,
  server: Server,
  a: Assumptions,
): Record<Resource, number> {
  const work = toWork(rate, a);
  const replicas = toReplicas(toCores(database, work, costs), a);
  return {
    cores: toDatabaseCores(database, work, costs) / (server.cores * a.utilisation),
    disk: toBytesAfter(database, days, rate, costs, a) / server.diskBytes,
    WAL: toWalBytes(database, rate, costs, a) / server.walBytesPerSecond,
    'disk reads': toDiskPages(database, { rate, days }, costs, server, a) / server.pagesPerSecond,
    connections: (replicas * costs.connections[database]) / server.connections,
  };
}

/** The resource that ends first. */
export function toBottleneck(load: Readonly<Record<Resource, number>>): Resource {
  const [first = 'cores', ...others] = Object.keys(load) as Resource[];
  return others.reduce((most, one) => (load[one] > load[most] ? one : most), first);
}

/** The highest rate at which no need exceeds the server, to one per cent; the needs only grow with the rate. */
export function toHighestRate(need: (rate: number) => number): number {
  let [low, high] = [0, 1e7];
  while (high - low > 0.01 * low && high - low > 0.01) {
    const middle = (low + high) / 2;
    if (need(middle) <= 1) low = middle;
    else high = middle;
  }
  return low;
}
