import { translatingErrors } from '@phds/service-kit/postgres/errors';
import { readStatement } from '@phds/service-kit/postgres/statement';
import type pg from 'pg';
import type { ImportStore } from '../app/ports.ts';
import type { ImportKey, ImportState } from '../domain/import-progress.ts';

const START = readStatement(new URL('sql/start-import.sql', import.meta.url));

const REPORT = `
  WITH known AS (SELECT 1 FROM import WHERE user_id = $1 AND format = $2 AND digest = $3),
  kept AS (
    UPDATE import SET position = $5, report = $6, state = $7, reported_at = $8
    WHERE user_id = $1 AND format = $2 AND digest = $3
      AND run = $4 AND state <> 'finished' AND ($7 = 'finished' OR position <= $5)
  )
  SELECT count(*)::int AS known FROM known`;

const LIST = `
  SELECT format, digest, size, state, report, started_at, reported_at FROM import WHERE user_id = $1
  ORDER BY started_at DESC, format, digest LIMIT $2`;

// The literal lets the planner use import_running_idx.
const COUNT_RUNNING = `
  SELECT count(*)::int AS running FROM import WHERE state = 'running' AND reported_at >= $1`;

interface ListedRow {
  readonly format: string;
  readonly digest: string;
  readonly size: string;
  readonly state: ImportState;
  readonly report: string;
  readonly started_at: Date;
  readonly reported_at: Date;
}

/** The progress of imports. Each call is one statement, so concurrent runs of the same import are serialised. */
export function createPgImports(pool: pg.Pool): ImportStore {
  const keyOf = ({ userId, format, digest }: ImportKey) => [userId, format, digest];
  return translatingErrors({
    async start(key, size, again, now) {
      const values = [...keyOf(key), size, again, now.toISOString()];
      const { rows } = await pool.query<{ run: number; position: string; report: string }>({
        ...START,
        values,
      });
      const { run = 1, position = '0', report = '' } = rows[0] ?? {};
      return { run, position: Number(position), report };
    },
    async report(key, { run, position, report }, state, now) {
      const values = [...keyOf(key), run, position, report, state, now.toISOString()];
      const { rows } = await pool.query<{ known: number }>(REPORT, values);
      return rows[0]?.known === 1;
    },
    async countRunning(since) {
      const { rows } = await pool.query<{ running: number }>(COUNT_RUNNING, [since.toISOString()]);
      return rows[0]?.running ?? 0;
    },
    async list(userId, limit) {
      const { rows } = await pool.query<ListedRow>(LIST, [userId, limit]);
      return rows.map(({ size, started_at, reported_at, ...row }) => ({
        ...row,
        size: Number(size),
        startedAt: started_at,
        reportedAt: reported_at,
      }));
    },
  });
}
