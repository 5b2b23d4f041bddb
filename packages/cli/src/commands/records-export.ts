import type { Writable } from 'node:stream';
import { ACCESS_CSV_HEADER, type ExportedAccess, toAccessCsvLine } from '@phds/catalog/access-csv';
import {
  findRange,
  idsFrom,
  instantText,
  type RangeChoice,
  type RecordsRange,
} from '../records/chain-source.ts';
import {
  explainRecords,
  type RecordsConnection,
  type RecordsSnapshot,
  requireLedger,
} from '../records/connection.ts';
import { writeFileOrOutput } from '../whole-file.ts';
import { EXIT_DONE, EXIT_FAILED, type Surroundings } from './command.ts';

const HL7 = 'http://terminology.hl7.org/CodeSystem';

/** Converts one access to a FHIR R4 AuditEvent (https://hl7.org/fhir/R4/auditevent.html). */
export function toAuditEvent(access: ExportedAccess, userId: string): Record<string, unknown> {
  const isReleased = access.outcome === 'released';
  return {
    resourceType: 'AuditEvent',
    id: access.id.replaceAll('_', '-'),
    type: { system: `${HL7}/audit-event-type`, code: 'rest', display: 'RESTful Operation' },
    subtype: [{ system: 'http://hl7.org/fhir/restful-interaction', code: 'search', display: 'search' }],
    action: 'R',
    recorded: access.at,
    // 0 is success, 4 a minor failure: the app was refused.
    outcome: isReleased ? '0' : '4',
    ...(isReleased ? {} : { outcomeDesc: access.reason }),
    agent: [
      {
        who: {
          identifier: { value: access.app },
          ...(access.appName === '' ? {} : { display: access.appName }),
        },
        requestor: true,
      },
    ],
    source: { observer: { display: 'Partner Health Data Service, consent' } },
    entity: [
      {
        what: { identifier: { value: userId } },
        type: { system: `${HL7}/audit-entity-type`, code: '1', display: 'Person' },
        role: { system: `${HL7}/object-role`, code: '1', display: 'Patient' },
      },
      {
        what: { display: access.endpoint },
        type: { system: `${HL7}/audit-entity-type`, code: '2', display: 'System Object' },
        role: { system: `${HL7}/object-role`, code: '24', display: 'Query' },
        detail: toDetails(access),
      },
    ],
  };
}

/** Only existing values, because FHIR does not allow empty strings. */
function toDetails({ grantId, scope, from, to, page, recordCount, requestId }: ExportedAccess) {
  const details = { grantId, scope, from, to, page, recordCount, requestId };
  return Object.entries(details)
    .filter(([, value]) => value !== '')
    .map(([type, value]) => ({ type, valueString: String(value) }));
}

const ACCESSES_A_PAGE = 1_000;

const ACCESSES = `
  SELECT 'acc_' || replace(r.id::text, '-', '') AS id,
    ${instantText('r.at')} AS at, r.client_id AS app,
    r.grant_id AS "grantId", r.scope, r.endpoint, r.window_from AS "from", r.window_to AS "to", r.page,
    r.record_count AS "recordCount", r.request_id AS "requestId",
    CASE WHEN refusal.verdict IS NULL THEN 'released' ELSE 'refused' END AS outcome,
    coalesce(upper(refusal.verdict), '') AS reason
  FROM access_record AS r
  LEFT JOIN LATERAL (
    SELECT verdict FROM access_record WHERE refers_to = r.id AND id > r.id LIMIT 1
  ) AS refusal ON true
  WHERE r.user_ref = $1::uuid AND r.refers_to IS NULL AND ${idsFrom(2)}
  ORDER BY r.id`;

/** The names of apps at the times of accesses, in order. */
const NAMES = `
  SELECT coalesce(shown_app_of(a.grant_id, a.client_id, a.at)->>'name', app.name, '') AS "appName"
  FROM unnest($1::text[], $2::text[], $3::timestamptz[]) WITH ORDINALITY AS a(grant_id, client_id, at, ordinal)
  LEFT JOIN app ON app.client_id = a.client_id
  ORDER BY a.ordinal`;

/** Pages of a person's accesses in a range, oldest first, with app names as in the access history. Null when no records belong to this user id. */
async function findAccesses(
  { snapshot, ledger }: RecordsConnection,
  userId: string,
  range: RecordsRange,
): Promise<AsyncIterable<ExportedAccess[]> | null> {
  const [person] = await ledger.query<{ ref: string }>(
    'SELECT user_ref::text AS ref FROM person WHERE user_id = $1',
    [userId],
  );
  if (person === undefined) return null;
  const pages = snapshot.pages<UnnamedAccess>(ACCESSES, ACCESSES_A_PAGE, [person.ref, range.from, range.to]);
  return addNames(pages, ledger);
}

type UnnamedAccess = Omit<ExportedAccess, 'appName'>;

async function* addNames(
  pages: AsyncIterable<UnnamedAccess[]>,
  ledger: RecordsSnapshot,
): AsyncGenerator<ExportedAccess[]> {
  for await (const page of pages) {
    const names = await ledger.query<Pick<ExportedAccess, 'appName'>>(NAMES, [
      page.map(({ grantId }) => grantId),
      page.map(({ app }) => app),
      page.map(({ at }) => at),
    ]);
    yield page.map((access, index) => ({ ...access, appName: names[index]?.appName ?? '' }));
  }
}

/** RFC 4180, or FHIR R4 AuditEvents as NDJSON. */
export const EXPORT_FORMATS = ['csv', 'fhir'] as const;

interface ExportRecordsArguments {
  readonly userId: string;
  /** Whether messages must not contain the user id. */
  readonly hidesUser?: boolean;
  readonly range: RangeChoice;
  readonly format: (typeof EXPORT_FORMATS)[number];
  /** null for standard output. */
  readonly file: string | null;
}

/** `phds records export`: writes a person's access records, oldest first. Returns the exit code. */
export async function exportRecords(
  { userId, hidesUser = false, range, format, file }: ExportRecordsArguments,
  { output, errors, connect }: Surroundings<Promise<RecordsConnection>, Writable>,
): Promise<number> {
  try {
    await using connection = await connect();
    const { snapshot } = connection;
    await requireLedger(connection);
    const pages = await findAccesses(connection, userId, await findRange(snapshot, range));
    if (pages === null) {
      const user = hidesUser ? 'this user' : `a user ${userId}`;
      errors.write(`No records belong to ${user}: there never was a consent, or the user was erased.\n`);
      return EXIT_FAILED;
    }
    const text = format === 'csv' ? csv(pages) : ndjson(pages, userId);
    await writeFileOrOutput(file, text, output);
    return EXIT_DONE;
  } catch (error) {
    errors.write(`${explainRecords(error)}\n`);
    return EXIT_FAILED;
  }
}

async function* csv(pages: AsyncIterable<readonly ExportedAccess[]>): AsyncGenerator<string> {
  yield ACCESS_CSV_HEADER;
  for await (const page of pages) yield page.map(toAccessCsvLine).join('');
}

async function* ndjson(
  pages: AsyncIterable<readonly ExportedAccess[]>,
  userId: string,
): AsyncGenerator<string> {
  for await (const page of pages) {
    yield page.map((access) => `${JSON.stringify(toAuditEvent(access, userId))}\n`).join('');
  }
}
