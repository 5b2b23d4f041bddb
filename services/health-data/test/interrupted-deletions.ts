import type { TestDatabase } from '@phds/test-kit/databases';
import pg from 'pg';

/** Cancels statements that delete readings, as the server does at the statement timeout. */
export interface Interrupter extends AsyncDisposable {
  /** An SQL condition; `gone` is the table of the rows that the statement deletes. */
  cancelWhen(condition: string): Promise<void>;
  cancelNothing(): Promise<void>;
}

export async function openInterrupter({ adminUrl, schema }: TestDatabase): Promise<Interrupter> {
  const admin = new pg.Client({ connectionString: adminUrl });
  await admin.connect();
  await admin.query(`SET search_path = ${schema}`);
  const cancelWhen = async (condition: string) => {
    await admin.query(`
      CREATE OR REPLACE FUNCTION break_off() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF ${condition} THEN RAISE EXCEPTION 'too long' USING ERRCODE = 'query_canceled'; END IF;
        RETURN NULL;
      END $$;
      CREATE OR REPLACE TRIGGER break_off AFTER DELETE ON reading
        REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION break_off()`);
  };
  return {
    cancelWhen,
    cancelNothing: () => cancelWhen('false'),
    [Symbol.asyncDispose]: () => admin.end(),
  };
}
