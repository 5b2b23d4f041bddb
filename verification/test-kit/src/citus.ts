import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { toDatabaseUrl } from '@phds/service-kit/postgres/postgres-names';
import { queryOnce as run } from './open-client.ts';

/**
 * Administrators of the servers of a Citus cluster, as URLs without passwords separated by commas; the first one is the coordinator.
 * Databases of health-data are then created on the cluster, and on one server otherwise.
 */
export const CITUS_VARIABLE = 'TEST_CITUS_NODES';

const files = resolve(import.meta.dirname, '../../../deploy/citus');

/** The number does not change what a statement does, and many take long to create. */
const SHARDS = 8;

/** The servers of the cluster, or null. */
export function findCitusNodes(): readonly [coordinator: string, ...workers: string[]] | null {
  const [coordinator, ...workers] = process.env[CITUS_VARIABLE]?.split(',') ?? [];
  return coordinator ? [coordinator, ...workers] : null;
}

/** Creates a database on every server and joins them. Everything after that happens on the coordinator. */
export async function createCitusDatabase(
  [coordinator, ...workers]: readonly [string, ...string[]],
  database: string,
): Promise<void> {
  await createEmpty(coordinator, database);
  await run(
    toDatabaseUrl(coordinator, { database }),
    `SELECT citus_set_coordinator_host(${toAddress(coordinator)})`,
  );
  for (const worker of workers) await addCitusWorker(coordinator, worker, database);
}

/** Adds a server, which has no rows until they are moved. */
export async function addCitusWorker(coordinator: string, worker: string, database: string): Promise<void> {
  await createEmpty(worker, database);
  await run(toDatabaseUrl(coordinator, { database }), `SELECT citus_add_node(${toAddress(worker)})`);
}

async function createEmpty(node: string, database: string): Promise<void> {
  await run(node, `CREATE DATABASE ${database}`);
  await run(toDatabaseUrl(node, { database }), 'CREATE EXTENSION citus');
}

/** Distributes the tables, as docs/operations/deploy.md#health-data-on-several-servers describes it. */
export async function distributeHealthData(
  ownerUrl: string,
  adminUrl: string,
  shards = SHARDS,
): Promise<void> {
  const tables = await readFile(resolve(files, 'health_data.sql'), 'utf8');
  await run(ownerUrl, tables.replace('shard_count => 128', `shard_count => ${shards}`));
  await run(adminUrl, await readFile(resolve(files, 'planner.sql'), 'utf8'));
}

export async function dropCitusDatabase(nodes: readonly string[], database: string): Promise<void> {
  for (const node of nodes) await run(node, `DROP DATABASE IF EXISTS ${database} WITH (FORCE)`);
}

function toAddress(node: string): string {
  const { hostname, port } = new URL(node);
  return `'${hostname}', ${port}`;
}
