import type pg from 'pg';

/** A call of `create_distributed_table` as the script made it. */
export interface Distribution {
  readonly table: string;
  readonly column: string;
  readonly colocateWith: string;
  readonly shards: number | null;
}

/**
 * Creates `pg_dist_partition` and `create_distributed_table` with the signature that Citus gives it, in a schema of their own that is first in the
 * search path of this session. The function notes its arguments and refuses, with the messages of Citus, what Citus refuses: a table that
 * is distributed already, and one with triggers.
 */
export async function installStandIn(client: pg.Client): Promise<void> {
  await client.query(`
    CREATE SCHEMA citus_stand_in;
    CREATE TYPE citus_stand_in.distribution_type AS ENUM ('hash', 'range', 'append');
    CREATE TABLE citus_stand_in.pg_dist_partition (
      logicalrelid regclass PRIMARY KEY, called int GENERATED ALWAYS AS IDENTITY, given_column text NOT NULL,
      given_group text NOT NULL, given_shards int
    );
    CREATE FUNCTION citus_stand_in.create_distributed_table(
      table_name regclass, distribution_column text, distribution_type citus_stand_in.distribution_type DEFAULT 'hash',
      colocate_with text DEFAULT 'default', shard_count int DEFAULT NULL
    ) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      IF EXISTS (SELECT FROM citus_stand_in.pg_dist_partition WHERE logicalrelid = table_name) THEN
        RAISE EXCEPTION 'table "%" is already distributed', table_name;
      END IF;
      IF EXISTS (SELECT FROM pg_trigger WHERE tgrelid = table_name AND NOT tgisinternal) THEN
        RAISE EXCEPTION 'cannot distribute relation "%" because it has triggers', table_name;
      END IF;
      IF colocate_with NOT IN ('none', 'default') AND NOT EXISTS (
        SELECT FROM citus_stand_in.pg_dist_partition WHERE logicalrelid = colocate_with::regclass
      ) THEN
        RAISE EXCEPTION 'relation % is not distributed', colocate_with;
      END IF;
      INSERT INTO citus_stand_in.pg_dist_partition (logicalrelid, given_column, given_group, given_shards)
      VALUES (table_name, distribution_column, colocate_with, shard_count);
    END
    $$;
    SET search_path = citus_stand_in`);
}

/** The calls so far, in their order. */
export async function listDistributions(client: pg.Client): Promise<Distribution[]> {
  const { rows } = await client.query<Distribution>(`
    SELECT logicalrelid::text AS table, given_column AS column, given_group AS "colocateWith", given_shards AS shards
    FROM citus_stand_in.pg_dist_partition ORDER BY called`);
  return rows;
}
