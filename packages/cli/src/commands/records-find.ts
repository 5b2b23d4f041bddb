import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { toCsvLine } from '@phds/catalog/access-csv';
import { idsFrom } from '../records/chain-source.ts';
import { explainRecords, type RecordsConnection } from '../records/connection.ts';
import { writeWholeFile } from '../whole-file.ts';
import { EXIT_DONE, EXIT_FAILED, type Surroundings } from './command.ts';

// Parameters: beginning and end of the period (or null for none), and the client id (or null for all apps).
const RELEASED = `r.refers_to IS NULL AND ${idsFrom(1)} AND ($3::text IS NULL OR r.client_id = $3)
  AND NOT EXISTS (SELECT FROM access_record v WHERE v.refers_to = r.id AND v.id > r.id)`;

const toText = (instant: string) => `to_char(${instant} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** What the records and the ledger are asked in an incident. A person who was erased has no id. */
const SEARCHES = {
  reads: {
    columns: ['user', 'app', 'grantId', 'scope', 'answers', 'items', 'first', 'last'],
    sql: `
      SELECT coalesce(p.user_id, '') AS user, r.client_id AS app, r.grant_id AS "grantId", r.scope, count(*)::float8 AS answers,
        sum(r.record_count)::float8 AS items, ${toText('min(r.at)')} AS first, ${toText('max(r.at)')} AS last
      FROM access_record r LEFT JOIN person p ON p.user_ref = r.user_ref
      WHERE ${RELEASED} GROUP BY p.user_id, r.client_id, r.grant_id, r.scope ORDER BY answers DESC, "grantId", r.scope`,
  },
  late: {
    columns: ['at', 'revokedAt', 'user', 'app', 'grantId', 'scope', 'endpoint', 'items', 'requestId'],
    sql: `
      SELECT ${toText('r.at')} AS at, ${toText('g.revoked_at')} AS "revokedAt", coalesce(p.user_id, '') AS user, r.client_id AS app,
        r.grant_id AS "grantId", r.scope, r.endpoint, r.record_count AS items, r.request_id AS "requestId"
      FROM access_record r
      JOIN access_batch b USING (writer, seq, at)
      JOIN consent_grant g ON g.id = r.grant_id
      LEFT JOIN person p ON p.user_ref = r.user_ref
      WHERE b.recorded_at > g.revoked_at AND ${RELEASED} ORDER BY r.id`,
  },
  approvals: {
    columns: ['at', 'user', 'app', 'grantId', 'scopes', 'until', 'endedAt'],
    sql: `
      SELECT ${toText('e.at')} AS at, g.user_id AS user, g.client_id AS app, e.grant_id AS "grantId",
        array_to_string(e.scopes, ' ') AS scopes, ${toText('e.expires_at')} AS until,
        coalesce(${toText('least(g.revoked_at, CASE WHEN g.expires_at <= now() THEN g.expires_at END)')}, '') AS "endedAt"
      FROM consent_event e JOIN consent_grant g ON g.id = e.grant_id
      WHERE e.kind = 'granted' AND e.at >= $1::timestamptz AND ($2::timestamptz IS NULL OR e.at < $2::timestamptz)
        AND ($3::text IS NULL OR g.client_id = $3)
      ORDER BY e.at, e.grant_id`,
  },
} as const;

export type RecordsSearch = keyof typeof SEARCHES;

type Row = Readonly<Record<string, string | number>>;

const ROWS_A_PAGE = 1_000;

interface FindRecordsArguments {
  readonly search: RecordsSearch;
  /** Null for all apps. */
  readonly clientId: string | null;
  /** Null from the first record. */
  readonly from: Date | null;
  /** Exclusive; null until now. */
  readonly until: Date | null;
  /** A line of JSON for each row, in place of CSV. */
  readonly json: boolean;
  /** null for standard output. */
  readonly file: string | null;
}

/** `phds records reads|late|approvals`: writes the rows of a search. Returns the exit code. */
export async function findRecords(
  { search, clientId, from, until, json, file }: FindRecordsArguments,
  { output, errors, connect }: Surroundings<Promise<RecordsConnection>, Writable>,
): Promise<number> {
  const { sql, columns } = SEARCHES[search];
  try {
    await using connection = await connect();
    const values = [from?.toISOString() ?? '-infinity', until?.toISOString() ?? null, clientId];
    const pages = connection.snapshot.pages<Row>(sql, ROWS_A_PAGE, values);
    const text = json ? toJsonLines(pages) : toCsv(columns, pages);
    if (file !== null) await writeWholeFile(file, text);
    // Standard output stays open.
    else await pipeline(text, output, { end: false });
    return EXIT_DONE;
  } catch (error) {
    errors.write(`${explainRecords(error)}\n`);
    return EXIT_FAILED;
  }
}

async function* toCsv(
  columns: readonly string[],
  pages: AsyncIterable<readonly Row[]>,
): AsyncGenerator<string> {
  yield toCsvLine(columns);
  for await (const rows of pages)
    yield rows.map((row) => toCsvLine(columns.map((column) => row[column] ?? ''))).join('');
}

async function* toJsonLines(pages: AsyncIterable<readonly Row[]>): AsyncGenerator<string> {
  for await (const rows of pages) yield rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}
