import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

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
