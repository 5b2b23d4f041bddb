-- Planner settings of health-data on the servers that hold its shards (docs/operations/deploy.md#health-data-on-several-servers).
--
-- The service sets them for its own connections, which end at the coordinator: Citus does not pass them on. As settings of
-- the role they apply wherever the coordinator connects as that role. Run it on the coordinator as a superuser; Citus
-- repeats it on all servers (citus.enable_alter_role_set_propagation, on by default).
--
-- plan_cache_mode is not among them: on the coordinator a kept plan could not choose the server of a person, and to the
-- servers Citus sends each statement as text with its values, so there is no plan to keep.
ALTER ROLE phds_health_data SET enable_seqscan = 'off';
ALTER ROLE phds_health_data SET enable_bitmapscan = 'off';
ALTER ROLE phds_health_data SET jit = 'off';
