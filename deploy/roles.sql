-- Creates the schema, the roles and the rights of one service. PostgreSQL 17. Run it as an administrator in the database
-- that the service uses. It may be run again at any time, for example to change a password. The local stack, the compose
-- file and the tests run this file too.
--
-- Parameters are session settings, so that passwords do not appear in the command line:
--
--   phds.schema             authorization, consent or health_data
--   phds.owner_password     of phds_<schema>_owner, which owns the schema and runs the migrations
--   phds.runtime_password   of phds_<schema>, as which the service connects
--   phds.reader_password    optional; of phds_<schema>_reader, which only reads the tables
--
-- With psql 14 or later, with the passwords in exported environment variables:
--
--   psql --variable ON_ERROR_STOP=1 --variable schema=consent <<'SQL'
--   \getenv owner OWNER_PASSWORD
--   \getenv runtime RUNTIME_PASSWORD
--   SELECT set_config('phds.schema', :'schema', false), set_config('phds.owner_password', :'owner', false),
--          set_config('phds.runtime_password', :'runtime', false) \g /dev/null
--   \i deploy/roles.sql
--   SQL
DO $roles$
DECLARE
  schema_name text := nullif(current_setting('phds.schema', true), '');
  owner_password text := nullif(current_setting('phds.owner_password', true), '');
  runtime_password text := nullif(current_setting('phds.runtime_password', true), '');
  reader_password text := nullif(current_setting('phds.reader_password', true), '');
  runtime text := 'phds_' || schema_name;
  owner text := runtime || '_owner';
  reader text := runtime || '_reader';
  -- In its second schema consent may only insert; its migrations create the tables and the rights.
  schemas text[] := CASE schema_name WHEN 'consent' THEN ARRAY['consent', 'consent_audit'] ELSE ARRAY[schema_name] END;
  each_schema text;
  role record;
BEGIN
  IF schema_name IS NULL OR owner_password IS NULL OR runtime_password IS NULL THEN
    RAISE EXCEPTION 'phds.schema, phds.owner_password and phds.runtime_password must be set';
  END IF;

  FOR role IN
    SELECT * FROM (VALUES (owner, owner_password), (runtime, runtime_password), (reader, reader_password))
      AS roles (name, password) WHERE password IS NOT NULL
  LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role.name) THEN
      EXECUTE format('CREATE ROLE %I', role.name);
    END IF;
    EXECUTE format('ALTER ROLE %I LOGIN PASSWORD %L', role.name, role.password);
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), role.name);
  END LOOP;
  -- An administrator who is not a superuser can only make roles owners of objects if it is a member of them.
  IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
    EXECUTE format('GRANT %I TO CURRENT_USER', owner);
  END IF;

  EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
  REVOKE ALL ON SCHEMA public FROM PUBLIC;
  FOREACH each_schema IN ARRAY schemas LOOP
    EXECUTE format('CREATE SCHEMA IF NOT EXISTS %I AUTHORIZATION %I', each_schema, owner);
    EXECUTE format('REVOKE ALL ON SCHEMA %I FROM PUBLIC', each_schema);
  END LOOP;

  -- The runtime role may read and write the rows of its own schema. Migrations may revoke single rights.
  EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', schema_name, runtime);
  EXECUTE format('ALTER DEFAULT PRIVILEGES FOR ROLE %I IN SCHEMA %I GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO %I',
    owner, schema_name, runtime);
  EXECUTE format('ALTER DEFAULT PRIVILEGES FOR ROLE %I IN SCHEMA %I GRANT USAGE, SELECT ON SEQUENCES TO %I',
    owner, schema_name, runtime);
  EXECUTE format('ALTER ROLE %I IN DATABASE %I SET search_path = %I', owner, current_database(), schema_name);
  EXECUTE format('ALTER ROLE %I IN DATABASE %I SET search_path = %I', runtime, current_database(), schema_name);

  IF reader_password IS NOT NULL THEN
    FOREACH each_schema IN ARRAY schemas LOOP
      EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', each_schema, reader);
      EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA %I TO %I', each_schema, reader);
      EXECUTE format('ALTER DEFAULT PRIVILEGES FOR ROLE %I IN SCHEMA %I GRANT SELECT ON TABLES TO %I',
        owner, each_schema, reader);
    END LOOP;
  END IF;
END
$roles$;
