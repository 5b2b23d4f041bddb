import { translatingErrors } from '@phds/service-kit/postgres/errors';
import { execute } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import type { SandboxGrantStore } from '../app/ports.ts';
import { findGrantOfApp } from './grant-lists.ts';

/** Grants in table `consent_grant`. */
export function createPgSandboxGrants(pool: pg.Pool): SandboxGrantStore {
  return translatingErrors({
    async isOwner(ownerId, clientId) {
      return (
        (await execute(pool)`SELECT FROM app WHERE client_id = ${clientId} AND owner_id = ${ownerId}`) === 1
      );
    },
    find: (id, clientId) => findGrantOfApp(pool, id, clientId),
    async expire(id) {
      // No event is added, as none is when the time runs out.
      const ended = await execute(pool)`
        UPDATE consent_grant SET expires_at = date_trunc('milliseconds', clock_timestamp())
        WHERE id = ${id} AND closed_at IS NULL AND expires_at > clock_timestamp()`;
      return ended === 1;
    },
  });
}
