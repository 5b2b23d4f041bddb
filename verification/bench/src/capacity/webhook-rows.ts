import { resolve } from 'node:path';
import { ensureServiceDatabase } from '@phds/service-kit/postgres/database-roles';
import { applyMigrations } from '@phds/service-kit/postgres/migrations';
import type { RowBytes } from './costs.ts';
import { openAdmin } from './observe.ts';
import { readTables } from './tables.ts';

const ROWS = 20_000;
const MIGRATIONS = resolve(import.meta.dirname, '../../../../services/consent/prisma/migrations');

/** Delivered events with one attempt each, and revoked families and tokens, in a database of their own that is dropped afterwards. */
const FILL = `
  SET search_path = consent;
  INSERT INTO webhook_event (endpoint_id, grant_id, sub_hash, type, content, state, attempts, next_attempt_at)
  SELECT 'whk_' || md5('endpoint'), 'grt_' || md5(n::text), substr(sha256(n::text::bytea), 1, 16), 'grant.revoked',
    '{"revokedBy": "person", "endedAt": "2026-01-02T10:00:00.000Z"}', 'delivered', 1, NULL
  FROM generate_series(1, ${ROWS}) n;
  INSERT INTO webhook_attempt (event_id, at, status, ms) SELECT id, now(), 200, 40 FROM webhook_event;
  INSERT INTO revoked_family (family_id, expires_at)
  SELECT 'fam_' || md5(n::text), now() + n * interval '1 second' FROM generate_series(1, ${ROWS}) n;
  INSERT INTO revoked_token (token_hash, expires_at)
  SELECT sha256(n::text::bytea), now() + n * interval '1 second' FROM generate_series(1, ${ROWS}) n`;

const FILLED = ['webhook_event', 'webhook_attempt', 'revoked_family', 'revoked_token'];

export async function measureWebhookRows(adminUrl: string): Promise<Record<string, RowBytes>> {
  const database = 'phds_bench_capacity_rows';
  await using server = await openAdmin(adminUrl);
  await server.query(`DROP DATABASE IF EXISTS ${database}`);
  const passwords = { owner: 'bench-owner', runtime: 'bench-runtime' };
  const { ownerUrl, schema } = await ensureServiceDatabase({
    adminUrl,
    service: 'consent',
    database,
    passwords,
  });
  try {
    await applyMigrations({ connectionString: ownerUrl, schema, directory: MIGRATIONS });
    await using owner = await openAdmin(ownerUrl);
    await owner.query(FILL);
    const tables = await readTables(owner, ['consent']);
    const toEach = (name: string): [string, RowBytes] => {
      const { rows, bytes } = tables[`consent.${name}`] ?? { rows: 0, bytes: Number.NaN };
      return [`consent.${name}`, { rows, bytes: bytes / rows }];
    };
    return Object.fromEntries(FILLED.map(toEach));
  } finally {
    await server.query(`DROP DATABASE ${database} WITH (FORCE)`);
  }
}
