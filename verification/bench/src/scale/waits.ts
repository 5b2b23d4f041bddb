import type pg from 'pg';

const INTERVAL_MS = 50;

/** What connections of services wait for in the middle of a statement, in samples; `Lock` is a wait for another transaction. */
export interface Waits {
  readonly samples: number;
  /** Waiting connections of a sample on average, by kind. */
  readonly kinds: ReadonlyMap<string, number>;
}

/** Samples the waits until disposed. */
export function sampleWaits(admin: pg.Client) {
  let samples = 0;
  const seen = new Map<string, number>();
  let last: Promise<unknown> = Promise.resolve();
  const timer = setInterval(() => {
    last = last.then(async () => {
      const { rows } = await admin.query<{ kind: string; n: number }>(
        `SELECT wait_event_type AS kind, count(*)::int AS n FROM pg_stat_activity
         WHERE state = 'active' AND wait_event_type IS NOT NULL AND usename LIKE 'phds_%' GROUP BY 1`,
      );
      samples += 1;
      for (const { kind, n } of rows) seen.set(kind, (seen.get(kind) ?? 0) + n);
    });
  }, INTERVAL_MS);
  return async (): Promise<Waits> => {
    clearInterval(timer);
    await last;
    return { samples, kinds: new Map([...seen].map(([kind, n]) => [kind, n / samples])) };
  };
}
