-- With another `jwks_uri` the keys so far work until its own were fetched, but not keys that a restore has suspended: one of them may have
-- been removed since the backup.
CREATE OR REPLACE FUNCTION "note_restore_of_keys"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.keys_restore_number := (SELECT coalesce(max(r.number), 0) FROM "authorization".restore r);
  IF TG_OP = 'UPDATE' THEN
    IF NEW.jwks_uri <> '' AND OLD.keys_restore_number < NEW.keys_restore_number THEN
      NEW.jwks := '';
      NEW.jwks_fetched_at := NULL;
    END IF;
  END IF;
  RETURN NEW;
END
$$;
