import { getMetric, type MetricKey } from '@phds/catalog/metrics';
import type { Stack } from '@phds/dev-stack/stack';
import pg from 'pg';
import { refill } from './refill.ts';

/** A user with a number of readings. */
export interface Person {
  readonly user: string;
  readonly readings: number;
}

/** A thousand, a hundred thousand and the largest. */
export function toPeople(largest: number): Person[] {
  return [1_000, 100_000, largest].map((readings) => ({ user: `flat-${readings}`, readings }));
}

// The measuring frequency of a watch, a phone and a scale, as shares of all readings.
const SHARES: Partial<Record<MetricKey, number>> = {
  'heart-rate': 600,
  hrv: 20,
  'resting-hr': 3,
  'blood-pressure': 3,
  'bp-diastolic': 3,
  spo2: 40,
  'respiratory-rate': 30,
  glucose: 10,
  temperature: 3,
  steps: 120,
  distance: 50,
  calories: 50,
  'basal-calories': 20,
  exercise: 10,
  flights: 6,
  'sleep-deep': 7,
  'sleep-core': 7,
  'sleep-rem': 7,
  'sleep-awake': 4,
  weight: 4,
  mindfulness: 3,
};

/**
 * The years over which everybody's readings are spread evenly: all users have equally many days, with different numbers of
 * readings.
 */
const FIRST_DAY = '2016-01-01';
const DAYS = 3_652;

/** Inserts everybody's readings by SQL and waits until the service has computed their rollups. Does nothing if they exist. */
export async function fillPeople(
  stack: Stack,
  people: readonly Person[],
  say: (line: string) => void,
): Promise<void> {
  const client = new pg.Client({ connectionString: stack.databases['health-data'].ownerUrl });
  await client.connect();
  try {
    await client.query("SET search_path = health_data; SET timezone = 'UTC'");
    if (await areFilled(client, people)) return;
    await refill(stack, client, people.length, async () => {
      await client.query('TRUNCATE profile');
      for (const person of people) {
        say(`filling in ${person.readings.toLocaleString('en')} readings`);
        await fillPerson(client, person);
      }
    });
  } finally {
    await client.end();
  }
}

async function areFilled(client: pg.Client, people: readonly Person[]): Promise<boolean> {
  const users = people.map(({ user }) => user);
  const { rows } = await client.query(
    'SELECT count(*)::int AS filled FROM rollup_state WHERE user_id = ANY($1)',
    [users],
  );
  return rows[0].filled === people.length;
}

async function fillPerson(client: pg.Client, { user, readings }: Person): Promise<void> {
  await client.query("INSERT INTO profile (user_id, time_zone) VALUES ($1, 'Europe/Berlin')", [user]);
  const all = Object.values(SHARES).reduce((sum, share) => sum + share, 0);
  for (const [type, share] of Object.entries(SHARES) as [MetricKey, number][]) {
    const { category, plausible, bucketBy } = getMetric(type);
    const values = [user, type, category, bucketBy === 'end' ? 25 : 1, plausible.min, plausible.max / 4];
    await client.query(INSERT, [
      ...values,
      Math.max(1, Math.round((readings * share) / all)),
      FIRST_DAY,
      DAYS,
    ]);
  }
}

// Two devices, the second with every third measurement; varying values with one decimal.
const INSERT = `
  INSERT INTO reading (user_id, id, type, category, start_at, end_at, value, source)
  SELECT $1, gen_random_uuid(), $2, $3, at, at + $4::int * interval '1 minute',
    $5::float8 + round((n % 997)::numeric * $6::numeric / 997, 1)::float8, CASE n % 3 WHEN 0 THEN 'iphone' ELSE 'apple-watch' END
  FROM generate_series(0, $7::int - 1) AS n,
    LATERAL (SELECT $8::timestamptz + n * ($9::int * interval '1 day' / $7::int) AS at) AS moment`;
