import type { TestDatabase } from '@phds/test-kit/databases';
import pg from 'pg';

/** Cancels statements that delete readings, as the server does at the statement timeout. */
interface Interrupter extends AsyncDisposable {
  /** An SQL condition; `gone` is the table of the rows that the statement deletes. */
  cancelWhen(condition: string): Promise<unknown>;
  cancelNothing(): Promise<unknown>;
}

export async function openInterrupter({ adminUrl, schema }: TestDatabase): Promise<Interrupter> {
  const admin = new pg.Client({ connectionString: adminUrl });
  await admin.connect();
  // The second one is only known to Citus, where the trigger runs on the parts of the table.
  await admin.query(`SET search_path = ${schema}; SET citus.enable_unsafe_triggers = on`);
  const cancelWhen = (condition: string) =>
    admin.query(`
      CREATE OR REPLACE FUNCTION break_off() RETURNS trigger LANGUAGE plpgsql AS $$ DECLARE due boolean; BEGIN
        EXECUTE replace($condition$SELECT ${condition}$condition$, 'FROM reading ',
          format('FROM %I.%I ', TG_TABLE_SCHEMA, TG_TABLE_NAME)) INTO due;
        IF due THEN RAISE EXCEPTION 'too long' USING ERRCODE = 'query_canceled'; END IF;
        RETURN NULL;
      END $$`);
  await cancelWhen('false');
  await admin.query(`
    CREATE TRIGGER break_off AFTER DELETE ON reading
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION break_off()`);
  return {
    cancelWhen,
    cancelNothing: () => cancelWhen('false'),
    [Symbol.asyncDispose]: () => admin.end(),
  };
}
