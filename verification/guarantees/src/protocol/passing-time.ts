import type pg from 'pg';
import type { Surroundings } from './variants.ts';

/** The tables of credentials, with the condition for the rows of the apps in $2. */
const TABLES = {
  consent: {
    consent_grant: 'client_id = ANY($2)',
    pending_approval: 'client_id = ANY($2)',
    app_epoch: 'client_id = ANY($2)',
    // This table has no reference to the app.
    revoked_family: 'true',
    revoked_token: 'true',
  },
  authorization: {
    authorization_request: 'client_id = ANY($2)',
    authorization_code: 'client_id = ANY($2)',
    token_family: 'client_id = ANY($2)',
    refresh_token: 'family_id IN (SELECT id FROM token_family WHERE client_id = ANY($2))',
    access_token: 'client_id = ANY($2)',
  },
} as const;

// As in the service, but immediately.
const PRUNE = 'SELECT prune_revoked_family(2, 5000), prune_revoked_token(2, 5000)';

const statements = new Map<pg.Pool, string>();

/**
 * Lets time pass for some apps by moving their rows into the past, because the databases' clocks cannot be set. Prunes the ledger.
 */
export async function passTime(
  { databases }: Surroundings,
  clientIds: readonly string[],
  ms: number,
  prune: string = PRUNE,
): Promise<void> {
  for (const service of ['consent', 'authorization'] as const) {
    const pool = databases[service];
    const statement = statements.get(pool) ?? (await toStatement(pool, TABLES[service]));
    statements.set(pool, statement);
    await pool.query(statement, [`${ms} milliseconds`, clientIds]);
  }
  await databases.consent.query(prune);
}

/** Moves every time in those rows. */
async function toStatement(pool: pg.Pool, tables: Readonly<Record<string, string>>): Promise<string> {
  const { rows } = await pool.query<{ name: string; moves: string }>(
    `SELECT attrelid::regclass::text AS name, string_agg(format('%1$I = %1$I - $1::interval', attname), ', ') AS moves
     FROM pg_attribute WHERE attrelid = ANY($1::regclass[]) AND atttypid = 'timestamptz'::regtype GROUP BY attrelid`,
    [Object.keys(tables)],
  );
  const updates = rows.map(
    ({ name, moves }) => `${name}_ AS (UPDATE ${name} SET ${moves} WHERE ${tables[name]})`,
  );
  return `WITH ${updates.join(', ')} SELECT`;
}
