import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { startEmbeddedPostgres, THROWAWAY_SETTINGS } from '@phds/local-stack/servers/embedded-postgres';
import { eventually } from '@phds/test-kit/conditions';
import { openTestPool } from '@phds/test-kit/test-pool';
import { ensureServiceDatabase } from '../src/postgres/database-roles.ts';
import { applyMigrations } from '../src/postgres/migrations.ts';

const SERVICES = [
  ['consent', 'consent_audit'],
  ['authorization', 'authorization'],
] as const;

/** A cluster with the databases of the services, and the address of each. */
async function startCluster(directory: string, port: number) {
  const server = await startEmbeddedPostgres({ directory, port, settings: THROWAWAY_SETTINGS });
  const passwords = { owner: 'test-owner', runtime: 'test-runtime' };
  const urls = new Map<string, string>();
  for (const [service] of SERVICES) {
    const database = await ensureServiceDatabase({ adminUrl: server.adminUrl, service, passwords });
    const migrations = resolve(import.meta.dirname, '../../../services', service, 'prisma/migrations');
    await applyMigrations({ ...database, connectionString: database.ownerUrl, directory: migrations });
    urls.set(service, database.url);
  }
  return { ...server, urls };
}

test('the pools of consent and authorization, with prepared statements, notice that another cluster is in the place of their own', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'phds-clusters-'));
  const first = await startCluster(join(directory, '1'), 0);
  const pools = SERVICES.map(([service, schema]) => {
    const url = first.urls.get(service) ?? '';
    const pool = openTestPool(url, { max: 1, options: '-c plan_cache_mode=force_generic_plan' });
    const ask = async (text: string) => (await pool.query({ name: text.slice(0, 60), text })).rows;
    const present = `SELECT identity FROM "${schema}".present_database`;
    const expected = `
    SELECT (SELECT system_identifier FROM pg_control_system()) || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
      || '/' || (SELECT oid FROM pg_database WHERE datname = current_database())
      || '/' || '"${schema}".restore'::regclass::oid AS identity`;
    return { pool, ask, present, expected };
  });
  const before: string[] = [];
  for (const { ask, present, expected } of pools) {
    const rows = await ask(present);
    expect(rows).toEqual(await ask(expected));
    before.push(rows[0].identity.split('/')[0]);
    // What can change during the connection is not part of the plan.
    const plan = JSON.stringify(await ask(`EXPLAIN (VERBOSE) ${present}`));
    expect(plan).toMatch(/pg_is_in_recovery\(\).*pg_current_wal_lsn\(\)/);
    expect(plan).not.toMatch(/pg_control_system|of_connection/);
  }

  await first.stop();
  const other = await startCluster(join(directory, '2'), first.port);
  for (const { pool, ask, present, expected } of pools) {
    await eventually(async () => expect(await ask(present)).toEqual(await ask(expected)));
    expect(before).not.toContain((await ask(present))[0].identity.split('/')[0]);
    await pool.end();
  }
  await other.stop();
  await rm(directory, { recursive: true });
});
