-- Closes every database of a server to roles without a grant of their own. PostgreSQL lets every role connect to every database
-- (PUBLIC) until that is revoked, including postgres, template1 and databases that are created later. Only for a server that no other
-- application uses, because it locks them out too. Run it as an administrator in any database, after deploy/roles.sql and after each
-- CREATE DATABASE. Running it again is harmless. The local stack and the compose file run it at every start.
--
--   psql --variable ON_ERROR_STOP=1 --file deploy/server.sql
DO $server$
DECLARE
  open_database record;
BEGIN
  FOR open_database IN
    SELECT d.datname AS name, d.datdba::regrole AS owner, pg_has_role(d.datdba, 'USAGE') AS is_ours
    FROM pg_database d
    WHERE d.datallowconn AND EXISTS (
      SELECT FROM aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) AS granted
      WHERE granted.grantee = 0 AND granted.privilege_type IN ('CONNECT', 'TEMPORARY'))
    ORDER BY d.datname
  LOOP
    IF open_database.is_ours THEN
      EXECUTE format('REVOKE CONNECT, TEMPORARY ON DATABASE %I FROM PUBLIC', open_database.name);
    ELSE
      RAISE WARNING 'database % stays open to every role: only its owner % can close it', open_database.name, open_database.owner;
    END IF;
  END LOOP;
END
$server$;
