-- What cannot change during a connection. A connection is one process of one running server, in one database. The identifier of a cluster is
-- written when the cluster is made, and every program that changes it requires that the server is stopped, which ends its connections.
-- Planning calls an IMMUTABLE function once, so a prepared statement has them as constants. Reading the identifier for each statement
-- read a file. What can change during a connection, the end of recovery and the timeline, is still evaluated each time.
CREATE FUNCTION "consent_audit"."cluster_of_connection"() RETURNS bigint LANGUAGE sql IMMUTABLE
  AS 'SELECT system_identifier FROM pg_control_system()';
CREATE FUNCTION "consent_audit"."database_of_connection"() RETURNS oid LANGUAGE sql IMMUTABLE
  AS 'SELECT oid FROM pg_database WHERE datname = current_database()';

CREATE OR REPLACE VIEW "consent_audit"."present_database" AS
  SELECT CASE WHEN pg_is_in_recovery() THEN 'a standby' ELSE "consent_audit"."cluster_of_connection"()
    || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
    || '/' || "consent_audit"."database_of_connection"()
    || '/' || ('consent_audit.restore'::regclass)::oid END AS identity;
