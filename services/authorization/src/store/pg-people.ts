import type pg from 'pg';

/** Rows of one step, far from what a statement has time for. */
const STEP_ROWS = 1_000;

/** The rows of a person: the key of a table, and the statement that finds keys. */
const ROWS = {
  authorization_code: ['hash', 'SELECT hash FROM authorization_code WHERE user_id = $1'],
  access_token: [
    'hash',
    'SELECT token.hash FROM token_family AS family JOIN access_token AS token ON token.family_id = family.id WHERE family.user_id = $1',
  ],
  token_family: ['id', 'SELECT id FROM token_family WHERE user_id = $1'],
} as const;

/** What the erasure of a person removed. */
export interface Erasure {
  readonly codes: number;
  readonly families: number;
  /** Number of apps that lost their owner. */
  readonly apps: number;
}

export type PersonStore = ReturnType<typeof createPgPeople>;

/** People in the tables with user ids. */
export function createPgPeople(pool: pg.Pool) {
  const change = async (text: string, ...values: unknown[]) => (await pool.query(text, values)).rowCount ?? 0;

  /** Repeats a step until it finds no more rows, and returns how many it removed. */
  async function remove(table: keyof typeof ROWS, userId: string): Promise<number> {
    const [key, keys] = ROWS[table];
    const text = `DELETE FROM ${table} WHERE ${key} = ANY(ARRAY(${keys} LIMIT ${STEP_ROWS}))`;
    let total = 0;
    for (;;) {
      const removed = await change(text, userId);
      total += removed;
      if (removed === 0) return total;
    }
  }

  return {
    /** Client ids of the person's apps that are not revoked. */
    async findOpenApps(userId: string): Promise<string[]> {
      const text = `SELECT client_id FROM app WHERE owner_id = $1 AND status <> 'revoked'`;
      const { rows } = await pool.query<{ client_id: string }>(text, [userId]);
      return rows.map((row) => row.client_id);
    },

    /**
     * Removes every row of the person, and the person from the apps, in steps that each commit. Returns when nothing is left; after an
     * interruption a repeat continues.
     */
    async erase(userId: string): Promise<Erasure> {
      // What is issued meanwhile goes with its family.
      const codes = await remove('authorization_code', userId);
      await remove('access_token', userId);
      const families = await remove('token_family', userId);
      await change('DELETE FROM developer WHERE user_id = $1', userId);
      // An app registered in the meantime is not revoked; it keeps its owner until the repeat.
      const apps = await change(
        `UPDATE app SET owner_id = '' WHERE owner_id = $1 AND status = 'revoked'`,
        userId,
      );
      return { codes, families, apps };
    },
  };
}
