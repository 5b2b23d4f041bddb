import { METRICS } from '@phds/catalog/metrics';
import type pg from 'pg';

/** The first has 200,000 readings, each of the others a fortieth of that. */
export const PEOPLE = ['much-measured', 'another', 'one-more'] as const;
export const ZONE = 'Europe/Berlin';
/** The medication of all adherence entries. */
export const MEDICATION = '00000000-0000-4000-8000-000000000000';

// By default three years, two devices; the others have the same types, but fewer readings.
const READINGS_A_DAY = { 'heart-rate': 110, hrv: 20, ecg: 1, steps: 40, 'sleep-core': 8, weight: 2 };

/** Inserts readings with their counts and quarter hours, profiles and records of people. */
export async function fillPeople(admin: pg.ClientBase, days = 1095): Promise<void> {
  await admin.query("SET timezone = 'UTC'");
  for (const [type, perDay] of Object.entries(READINGS_A_DAY)) {
    const category = METRICS.find(({ key }) => key === type)?.category;
    await admin.query(
      `INSERT INTO reading (user_id, id, type, category, start_at, end_at, value, source, change_number)
       SELECT user_id, gen_random_uuid(), $1, $2, at, at + interval '5 minutes', 50 + n % 40,
         CASE n % 2 WHEN 0 THEN 'iphone' ELSE 'apple-watch' END, 1
       FROM (VALUES ('${PEOPLE[0]}', 1), ('${PEOPLE[1]}', 40), ('${PEOPLE[2]}', 40)) AS person(user_id, part),
         LATERAL (SELECT n, timestamptz '2023-01-01' + n * part * interval '1 day' / $3::int AS at
           FROM generate_series(0, ${days} * $3::int / part) AS n) AS measured`,
      [type, category, perDay],
    );
  }
  await admin.query(`
    INSERT INTO reading_count (user_id, type, span, start_at, count)
    SELECT user_id, type, span, start, count(*) FROM reading, LATERAL (VALUES
      ('day', date_trunc('day', start_at)), ('all', '-infinity')) AS counted(span, start)
    GROUP BY 1, 2, 3, 4;
    INSERT INTO reading_quarter (user_id, type, at, source, count, sum, min, max, below, above)
    SELECT user_id, type, date_bin('15 minutes', CASE category WHEN 'sleep' THEN end_at ELSE start_at END, '2000-01-01Z'), source,
      count(*), sum(value), min(value), max(value), 0, 0
    FROM reading GROUP BY 1, 2, 3, 4;
    INSERT INTO profile (user_id, time_zone) SELECT DISTINCT user_id, '${ZONE}' FROM reading;
    ${fillRecords()}`);
}

function fillRecords(): string {
  const people = `(VALUES ('${PEOPLE[0]}'), ('${PEOPLE[1]}')) AS person(user_id), generate_series(1, 2000) AS n`;
  const insert = (table: string, columns: string, values: string) =>
    `INSERT INTO ${table} (user_id, id, source, ${columns}) SELECT user_id, gen_random_uuid(), 'ehr', ${values} FROM ${people};`;
  const at = "timestamptz '2023-01-01' + n * interval '9 hours'";
  return [
    insert('symptom', 'description, occurred_at', `'A', ${at}`),
    insert('medication', 'name, sort_name', "'M' || n, 'm' || n"),
    insert('adherence_entry', 'medication_id, at, status', `'${MEDICATION}', ${at}, 'taken'`),
    insert('condition', 'name', "'C' || n"),
    insert('allergy', 'name', "'A' || n"),
    insert('appointment', 'title, starts_at, offset_minutes', `'T', ${at}, 0`),
    insert('mood_entry', 'mood, occurred_at', `'neutral', ${at}`),
    insert('report', 'generated_at, range_from, range_to, summary', `${at}, '2023-01-01', '2023-01-02', 'S'`),
    insert('ehr_record', 'resource_type, summary, occurred_at', `'Observation', 'S', ${at}`),
  ].join('');
}
