import type { Writable } from 'node:stream';
import { toCsvLine } from '@phds/catalog/access-csv';
import { idsFrom, instantText } from '../records/chain-source.ts';
import { explainRecords, type RecordsConnection, requireLedger } from '../records/connection.ts';
import { writeFileOrOutput } from '../whole-file.ts';
import { EXIT_DONE, EXIT_FAILED, type Surroundings } from './command.ts';

// Parameters: beginning and end of the period (or null for none), and the client id (or null for all apps).
const RELEASED = `r.refers_to IS NULL AND ${idsFrom(1)} AND ($3::text IS NULL OR r.client_id = $3)
  AND NOT EXISTS (SELECT FROM access_record v WHERE v.refers_to = r.id AND v.id > r.id)`;

/** What is asked in an incident. A person who was erased has no id. Statements are about records or about the ledger (docs/decisions/0047). */
const SEARCHES: Readonly<Record<RecordsSearch, Search>> = {
  reads: {
    columns: ['user', 'app', 'grantId', 'scope', 'answers', 'items', 'first', 'last'],
    async *run({ snapshot, ledger }, period) {
      for await (const page of snapshot.pages<Row & { ref: string }>(READS, ROWS_A_PAGE, period)) {
        const people = await ledger.query<{ ref: string; user: string }>(PEOPLE, [
          page.map(({ ref }) => ref),
        ]);
        const users = new Map(people.map(({ ref, user }) => [ref, user]));
        yield page.map(({ ref, ...row }) => ({ user: users.get(ref) ?? '', ...row }));
      }
    },
  },
  late: {
    columns: ['at', 'revokedAt', 'user', 'app', 'grantId', 'scope', 'endpoint', 'items', 'requestId'],
    async *run({ snapshot, ledger }, period) {
      for await (const page of snapshot.pages<LastRead>(LAST_READS, ROWS_A_PAGE, period)) {
        const ids = page.map(({ grantId }) => grantId);
        const revoked = await ledger.query<RevokedGrant>(REVOKED_BEFORE, [ids, page.map(({ last }) => last)]);
        for (const { grantId, user, revokedAt } of revoked) {
          const rows = await snapshot.query<Row>(READS_AFTER, [...period, grantId, revokedAt]);
          yield rows.map((row) => ({ user, revokedAt, ...row }));
        }
      }
    },
  },
  approvals: {
    columns: ['at', 'user', 'app', 'grantId', 'scopes', 'until', 'endedAt'],
    run: ({ ledger }, period) => ledger.pages<Row>(APPROVALS, ROWS_A_PAGE, period),
  },
};

interface Search {
  readonly columns: readonly string[];
  run(connection: RecordsConnection, period: Period): AsyncIterable<readonly Row[]>;
}

type Row = Readonly<Record<string, string | number>>;
type Period = readonly [from: string, to: string | null, clientId: string | null];

interface LastRead {
  readonly grantId: string;
  /** When the last one was recorded. */
  readonly last: string;
}

interface RevokedGrant {
  readonly grantId: string;
  readonly user: string;
  readonly revokedAt: string;
}

const READS = `
  SELECT r.user_ref::text AS ref, r.client_id AS app, r.grant_id AS "grantId", r.scope, count(*)::float8 AS answers,
    sum(r.record_count)::float8 AS items, ${instantText('min(r.at)')} AS first, ${instantText('max(r.at)')} AS last
  FROM access_record r WHERE ${RELEASED}
  GROUP BY r.user_ref, r.client_id, r.grant_id, r.scope ORDER BY answers DESC, "grantId", r.scope`;

const PEOPLE = `
  SELECT user_ref::text AS ref, user_id AS user FROM person WHERE user_ref = ANY ($1::uuid[])`;

const LAST_READS = `
  SELECT r.grant_id AS "grantId", ${instantText('max(b.recorded_at)', 'US')} AS last
  FROM access_record r JOIN access_batch b USING (writer, seq, at) WHERE ${RELEASED} GROUP BY r.grant_id`;

// Microseconds are kept: a read may follow the revocation within the same millisecond.
const REVOKED_BEFORE = `
  SELECT g.id AS "grantId", g.user_id AS user, ${instantText('g.revoked_at', 'US')} AS "revokedAt"
  FROM unnest($1::text[], $2::timestamptz[]) AS read(grant_id, last) JOIN consent_grant g ON g.id = read.grant_id
  WHERE g.revoked_at <= read.last ORDER BY g.id`;

const READS_AFTER = `
  SELECT ${instantText('r.at')} AS at, r.client_id AS app, r.grant_id AS "grantId", r.scope, r.endpoint, r.record_count AS items,
    r.request_id AS "requestId"
  FROM access_record r JOIN access_batch b USING (writer, seq, at)
  WHERE r.grant_id = $4 AND b.recorded_at > $5::timestamptz AND ${RELEASED} ORDER BY r.id`;

const APPROVALS = `
  SELECT ${instantText('e.at')} AS at, g.user_id AS user, g.client_id AS app, e.grant_id AS "grantId",
    array_to_string(e.scopes, ' ') AS scopes, ${instantText('e.expires_at')} AS until,
    coalesce(${instantText('least(g.revoked_at, CASE WHEN g.expires_at <= now() THEN g.expires_at END)')}, '') AS "endedAt"
  FROM consent_event e JOIN consent_grant g ON g.id = e.grant_id
  WHERE e.kind = 'granted' AND e.at >= $1::timestamptz AND ($2::timestamptz IS NULL OR e.at < $2::timestamptz)
    AND ($3::text IS NULL OR g.client_id = $3)
  ORDER BY e.at, e.grant_id`;

/** The names of the searches. */
export type RecordsSearch = 'reads' | 'late' | 'approvals';

const ROWS_A_PAGE = 1_000;

interface FindRecordsArguments {
  readonly search: RecordsSearch;
  /** Null for all apps. */
  readonly clientId: string | null;
  /** Null from the first record. */
  readonly from: Date | null;
  /** Exclusive; null until now. */
  readonly to: Date | null;
  /** A line of JSON for each row, in place of CSV. */
  readonly json: boolean;
  /** null for standard output. */
  readonly file: string | null;
}

/** `phds records reads|late|approvals`: writes the rows of a search. Returns the exit code. */
export async function findRecords(
  { search, clientId, from, to, json, file }: FindRecordsArguments,
  { output, errors, connect }: Surroundings<Promise<RecordsConnection>, Writable>,
): Promise<number> {
  const { columns, run } = SEARCHES[search];
  try {
    await using connection = await connect();
    await requireLedger(connection);
    const period = [from?.toISOString() ?? '-infinity', to?.toISOString() ?? null, clientId] as const;
    const pages = run(connection, period);
    const text = json ? toJsonLines(pages) : toCsv(columns, pages);
    await writeFileOrOutput(file, text, output);
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
