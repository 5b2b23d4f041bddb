import { translatingErrors } from '@phds/service-kit/postgres/errors';
import { execute } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import type { SessionEndStore } from '../app/ports.ts';

/** The ends of sessions in table `session_end`, in which the service can only insert. */
export function createPgSessionEnds(pool: pg.Pool): SessionEndStore {
  return translatingErrors({
    async add(ends, endedAt) {
      const kinds = ends.map(({ kind }) => kind);
      const hashes = ends.map(({ valueHash }) => Buffer.from(valueHash));
      await execute(pool)`
        INSERT INTO session_end (kind, value_hash, ended_at)
        SELECT kind, value_hash, ${endedAt}
        FROM unnest(${kinds}::text[], ${hashes}::bytea[]) WITH ORDINALITY AS named(kind, value_hash, ordinal)
        ORDER BY ordinal
        ON CONFLICT DO NOTHING`;
    },
  });
}
