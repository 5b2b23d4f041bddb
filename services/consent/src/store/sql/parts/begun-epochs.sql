-- Records the start of each epoch of the app in `changed`.
INSERT INTO app_epoch (client_id, epoch, started_at)
SELECT client_id, number, statement_timestamp()
FROM changed, generate_series(2, epoch) AS number
ON CONFLICT DO NOTHING
