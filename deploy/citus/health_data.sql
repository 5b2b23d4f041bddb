-- Distributes the tables of health-data by person over the servers of a Citus cluster (docs/operations/deploy.md#health-data-on-several-servers).
--
-- Before it: a coordinator and workers, each with a standby, with Postgres 17, `wal_level = logical` and the extension citus
-- in the database; on workers, max_connections and max_prepared_transactions above the sum of the pools. On the coordinator, as
-- superuser, `SELECT citus_set_coordinator_host(…)`, and `SELECT citus_add_node(…)` for each worker; then deploy/roles.sql
-- and the migrations. After it: planner.sql. A later worker, while people read and write: the database with the extension,
-- citus_add_node, `SELECT citus_rebalance_start(shard_transfer_mode => 'force_logical')`.
--
-- Run it on the coordinator, in the database of health-data, as phds_health_data_owner, after the migrations and before
-- the service starts; and again after each later migration. Tables that are distributed already are left alone. It waits
-- for, and blocks, writes to a table that has rows while these are moved: for such tables use
-- create_distributed_table_concurrently first, one by one, with the same arguments.
--
-- All rows of a person are in shards of the same number, which are on the same server, so a statement about one person
-- runs on one server, and so does the transaction of a write.
DO $distribute$
DECLARE
  name text;
BEGIN
  -- The first table decides on the number of shards, which stays.
  IF NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'health_data.profile'::regclass) THEN
    PERFORM create_distributed_table('health_data.profile', 'user_id', colocate_with => 'none', shard_count => 128);
  END IF;

  FOREACH name IN ARRAY ARRAY[
    'health_data.reading',
    'health_data.reading_count',
    'health_data.reading_change',
    'health_data.deleted_reading',
    'health_data.reading_quarter',
    'health_data.symptom',
    'health_data.medication',
    'health_data.adherence_entry',
    'health_data.condition',
    'health_data.allergy',
    'health_data.appointment',
    'health_data.mood_entry',
    'health_data.report',
    'health_data.ehr_record',
    'health_data.import'
  ] LOOP
    IF NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = name::regclass) THEN
      PERFORM create_distributed_table(name::regclass, 'user_id', colocate_with => 'health_data.profile');
    END IF;
  END LOOP;
END
$distribute$;
