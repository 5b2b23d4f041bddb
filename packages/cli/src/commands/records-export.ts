import type { Writable } from 'node:stream';
import { ACCESS_COLUMNS, type ExportedAccess, toCsvLine } from '@phds/catalog/access-csv';
import { type Command, Option } from 'commander';
import { addUserOptions, appOption, parsePath, timeOption, type UserOptions } from '../options.ts';
import { explainRecords, type RecordsConnection, type RecordsSnapshot } from '../records/connection.ts';
import type { Surrounded } from '../shell.ts';
import { writeFileOrOutput } from '../whole-file.ts';
import { EXIT_DONE, EXIT_FAILED, type Surroundings } from './command.ts';

/** RFC 4180, or a line of JSON for each access. */
const EXPORT_FORMATS = ['csv', 'json'] as const;

export function addExport(records: Command, { finish, withRecordsOf }: Surrounded): void {
  const exporting = records
    .command('export')
    .description('Writes access records, oldest first: of a person, of an app, or of a period.');
  addUserOptions(exporting, 'only accesses to the data of this user')
    .addOption(appOption('only of this app'))
    .addOption(timeOption('--from <time>', 'only from this time on (RFC 3339)'))
    .addOption(timeOption('--to <time>', 'only before this time'))
    .addOption(
      new Option('--format <format>', 'csv: RFC 4180; json: a line of JSON for each access')
        .choices(EXPORT_FORMATS)
        .makeOptionMandatory(),
    )
    .option(
      '--out <file>',
      'write to a file, which appears when it is complete, instead of the output; required with --user-file',
      parsePath,
    )
    .action(async (options: ExportOptions, command: Command) => {
      const {
        user,
        userFile,
        app: clientId = null,
        from = null,
        to = null,
        format,
        out: file = null,
      } = options;
      const hidesUser = userFile !== undefined;
      const userId = user ?? userFile ?? null;
      if (userId === null && clientId === null && from === null)
        command.error('error: --user, --user-file, --app or --from is required');
      if (hidesUser && file === null) command.error('error: --user-file needs --out');
      const records = withRecordsOf({ userId: userId ?? '', clientId: clientId ?? '' });
      finish(await exportRecords({ userId, hidesUser, clientId, from, to, format, file }, records));
    });
}

interface ExportOptions extends UserOptions {
  readonly app?: string;
  readonly from?: Date;
  readonly to?: Date;
  readonly format: (typeof EXPORT_FORMATS)[number];
  readonly out?: string;
}

interface ExportRecordsArguments {
  /** Null for everybody. */
  readonly userId: string | null;
  /** Whether messages must not contain the user id. */
  readonly hidesUser?: boolean;
  /** Null for all apps. */
  readonly clientId: string | null;
  /** Null from the first record. */
  readonly from: Date | null;
  /** Exclusive; null until now. */
  readonly to: Date | null;
  readonly format: (typeof EXPORT_FORMATS)[number];
  /** null for standard output. */
  readonly file: string | null;
}

/** An access with its person; the id is empty if the person was erased. */
interface AccessOfPerson extends ExportedAccess {
  readonly user: string;
}

const COLUMNS = ['user', ...ACCESS_COLUMNS] as const;

const ACCESSES_A_PAGE = 1_000;

// Parameters: beginning and end of the period (null for none). A condition that may be absent is left out, so that each has its index.
const accesses = (conditions: readonly string[], hidesUser: boolean) => `
  SELECT ${hidesUser ? "''" : "coalesce(p.user_id, '')"} AS user, 'acc_' || replace(r.id::text, '-', '') AS id,
    to_char(r.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS at, r.client_id AS app,
    coalesce(shown_app_of(r.grant_id, r.at)->>'name', app.profile->>'name', '') AS "appName",
    r.grant_id AS "grantId", r.scope, r.endpoint, r.window_from AS "from", r.window_to AS "to", r.page,
    r.record_count AS "recordCount", r.request_id AS "requestId",
    CASE WHEN refusal.verdict IS NULL THEN 'released' ELSE 'refused' END AS outcome,
    coalesce(upper(refusal.verdict), '') AS reason
  FROM access_record AS r
  LEFT JOIN app ON app.client_id = r.client_id
  LEFT JOIN person p ON p.user_ref = r.user_ref
  LEFT JOIN LATERAL (
    SELECT verdict FROM access_record WHERE refers_to = r.id AND id > r.id LIMIT 1
  ) AS refusal ON true
  WHERE r.id >= first_id_of($1::timestamptz)
    AND r.id <= coalesce(first_id_of($2::timestamptz), 'ffffffff-ffff-ffff-ffff-ffffffffffff')
    AND ${['r.refers_to IS NULL', ...conditions].join(' AND ')}
  ORDER BY r.id`;

/** `phds records export`: writes access records, oldest first, with app names as in the access history. Returns the exit code. */
export async function exportRecords(
  { userId, hidesUser = false, clientId, from, to, format, file }: ExportRecordsArguments,
  { output, errors, connect }: Surroundings<Promise<RecordsConnection>, Writable>,
): Promise<number> {
  try {
    await using connection = await connect();
    const { snapshot } = connection;
    const values: (string | null)[] = [from?.toISOString() ?? '-infinity', to?.toISOString() ?? null];
    const conditions: string[] = [];
    if (userId !== null) {
      const ref = await findReference(snapshot, userId);
      if (ref === null) {
        const user = hidesUser ? 'this user' : `a user ${userId}`;
        errors.write(`No records belong to ${user}: there never was a consent, or the user was erased.\n`);
        return EXIT_FAILED;
      }
      conditions.push(`r.user_ref = $${values.push(ref)}::uuid`);
    }
    if (clientId !== null) conditions.push(`r.client_id = $${values.push(clientId)}`);
    const pages = snapshot.pages<AccessOfPerson>(accesses(conditions, hidesUser), ACCESSES_A_PAGE, values);
    await writeFileOrOutput(file, format === 'csv' ? csv(pages) : jsonLines(pages), output);
    return EXIT_DONE;
  } catch (error) {
    errors.write(`${explainRecords(error)}\n`);
    return EXIT_FAILED;
  }
}

async function findReference(snapshot: RecordsSnapshot, userId: string): Promise<string | null> {
  const [person] = await snapshot.query<{ ref: string }>(
    'SELECT user_ref::text AS ref FROM person WHERE user_id = $1',
    [userId],
  );
  return person?.ref ?? null;
}

async function* csv(pages: AsyncIterable<readonly AccessOfPerson[]>): AsyncGenerator<string> {
  yield toCsvLine(COLUMNS);
  for await (const page of pages)
    yield page.map((access) => toCsvLine(COLUMNS.map((column) => access[column]))).join('');
}

async function* jsonLines(pages: AsyncIterable<readonly AccessOfPerson[]>): AsyncGenerator<string> {
  for await (const page of pages) yield page.map((access) => `${JSON.stringify(access)}\n`).join('');
}
