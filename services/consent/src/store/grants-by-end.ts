import { select } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import sql, { type Sql } from 'sql-template-tag';
import type { GrantDates } from '../domain/scanned-grant.ts';

/** How far a walk over grants has got: the time by which they are ordered, and the id, of the last grant that was checked. */
export interface Place {
  readonly placeAt: Date | null;
  readonly placeId: string;
}

/** The columns of a Place. */
export const PLACE_COLUMNS = sql`place_at AS "placeAt", place_id AS "placeId"`;

/** A grant that was found, and the reference of its person in the records. */
export type FoundGrant = GrantDates & { readonly userRef: string };

/** The next grants behind the place, in the order of their ends. None when the place has no time. */
export function selectByEnd(
  tx: pg.ClientBase,
  { placeAt, placeId }: Place,
  condition: Sql,
  size: number,
): Promise<FoundGrant[]> {
  return select<FoundGrant>(tx)`
    SELECT id, granted_at AS "grantedAt", expires_at AS "expiresAt", user_ref::text AS "userRef" FROM consent_grant
    WHERE (expires_at, id) > (${placeAt}, ${placeId}) AND ${condition}
    ORDER BY expires_at, id LIMIT ${size}`;
}
