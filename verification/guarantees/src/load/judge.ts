import pg from 'pg';
import { type Judgement, judgeTrace } from '../protocol/oracle.ts';
import type { AccessRecorded } from '../protocol/trace.ts';
import type { SimulatedPerson } from './simulated-person.ts';

interface RecordRow {
  readonly request: string;
  readonly app: string;
  readonly grant: string;
  readonly scope: string;
  readonly recorded: Date;
  readonly refused: boolean;
}

const RECORDS = `
  SELECT r.request_id AS request, r.client_id AS app, r.grant_id AS "grant", r.scope, b.recorded_at AS recorded,
    r.id IN (SELECT refers_to FROM access_record WHERE refers_to IS NOT NULL) AS refused
  FROM access_record r JOIN access_batch b ON b.writer = r.writer AND b.seq = r.seq AND b.at = r.at
  WHERE b.recorded_at >= $1 AND r.refers_to IS NULL`;

/** Judges each person's trace together with the access records of that time. */
export async function judgePeople(
  people: readonly SimulatedPerson[],
  recordsUrl: string,
  since: number,
): Promise<Judgement> {
  const rows = await readRecords(recordsUrl, since);
  const byApp = Map.groupBy(rows, ({ app }) => app);
  const sum = {
    violations: [] as Judgement['violations'][number][],
    requests: 0,
    released: 0,
    startedAfterRevocation: 0,
  };
  for (const person of people) {
    const records = [...person.apps].flatMap((app) => byApp.get(app) ?? []);
    const judgement = judgePerson(person, records);
    sum.violations.push(...judgement.violations);
    sum.requests += judgement.requests;
    sum.released += judgement.released;
    sum.startedAfterRevocation += judgement.startedAfterRevocation;
  }
  return sum;
}

function judgePerson({ trace, lasting }: SimulatedPerson, rows: readonly RecordRow[]): Judgement {
  const asked = new Set(trace.map((event) => (event.kind === 'request-started' ? event.request : '')));
  // The records of unanswered requests have ids that the client does not know.
  const recorded = rows.filter(({ request }) => asked.has(request)).map(toEvent);
  return judgeTrace([...lasting, ...trace, ...recorded]);
}

function toEvent({ recorded, ...row }: RecordRow): AccessRecorded {
  // The database rounds to milliseconds and our clock truncates, so the earlier time is used.
  return { kind: 'recorded', ...row, at: recorded.getTime() - 1, databaseTime: recorded.getTime() };
}

async function readRecords(connectionString: string, since: number): Promise<RecordRow[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return (await client.query<RecordRow>(RECORDS, [new Date(since - 1_000)])).rows;
  } finally {
    await client.end();
  }
}
