import { existsSync, writeFileSync } from 'node:fs';
import type { Stack } from '@phds/local-stack/stack';
import { type PartnerApp, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import pg from 'pg';
import { refill } from './refill.ts';

export const SCOPE = 'read:health-data:heart';
// More at once would exceed the deadlines of the calls when the cores are busy.
const PARALLEL = 4;

/** A user with more readings than the others, for reads that cost more than the newest page. */
export const LARGE_USER = 'bench-large';
const LARGE_READINGS = 100_000;

/** Name of the n-th user. The floor program and the service read the same rows. */
export function userName(n: number): string {
  return `bench-${n}`;
}

/**
 * Inserts heart readings of all users and the large one, seven minutes apart, a fifth of them HRV, and waits until the service has
 * computed their rollups. Does nothing if they exist.
 */
export async function fillReadings(stack: Stack, users: number, perUser: number): Promise<void> {
  const client = new pg.Client({ connectionString: stack.databases['health-data'].ownerUrl });
  await client.connect();
  try {
    await client.query("SET search_path = health_data; SET timezone = 'UTC'");
    const { rows } = await client.query(
      "SELECT count(*)::int AS n FROM reading_count WHERE user_id LIKE $1 AND span = 'all'",
      ['bench-%'],
    );
    if (rows[0].n === (users + 1) * 2) return;
    await refill(stack, client, users + 1, () =>
      client.query(INSERT, [users, perUser, LARGE_USER, LARGE_READINGS]),
    );
  } finally {
    await client.end();
  }
}

const INSERT = `
  INSERT INTO reading (user_id, id, type, category, start_at, end_at, value, source)
  SELECT person, gen_random_uuid(), CASE WHEN n % 5 = 0 THEN 'hrv' ELSE 'heart-rate' END, 'heart',
         at, at, 50 + n % 90, 'apple-watch'
  FROM (SELECT 'bench-' || u, $2::int FROM generate_series(1, $1::int) u UNION ALL VALUES ($3, $4::int)) people(person, number),
       LATERAL generate_series(1, number) n,
       LATERAL (SELECT date_trunc('hour', now()) - n * interval '7 minutes' AS at) t`;

/** Connects every user to one app through the public interface and writes `path token` lines. */
export async function connectUsers(stack: Stack, users: number, file: string): Promise<void> {
  const [gateway = ''] = stack.gatewayUrls;
  const app = await registerApp(gateway, await signIn(stack, 'bench-developer'), { name: 'Benchmark' });
  const lines: string[] = [];
  let next = 1;
  const worker = async () => {
    for (let user = next; user <= users; user = next) {
      next += 1;
      lines.push(`/api/v1/health-data/heart ${await connect(stack, app, userName(user))}`);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
  writeFileSync(file, `${lines.join('\n')}\n`);
}

async function connect(stack: Stack, app: PartnerApp, user: string): Promise<string> {
  const { accessToken } = await app.connect(await signIn(stack, user), [SCOPE]);
  return accessToken;
}

/** Writes the paths of the floor program. */
export function writeFloorPaths(users: number, file: string): void {
  if (existsSync(file)) return;
  writeFileSync(file, Array.from({ length: users }, (_, n) => `/heart/${userName(n + 1)}`).join('\n'));
}
