import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defaultDataDirectory } from '@phds/local-stack/data-directory';
import { type Stack, type StackOptions, startStack } from '@phds/local-stack/stack';
import { type PartnerApp, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import type { ProofKey } from '@phds/test-kit/dpop-proofs';
import { openClient } from '@phds/test-kit/open-client';
import type { Side } from './measure.ts';
import type { Options } from './options.ts';
import { findProcesses } from './processes.ts';

export const SCOPE = 'read:health-data:heart';
// More at once would exceed the deadlines of the calls when the cores are busy.
const PARALLEL = 4;

/** A user with more readings than the others, for reads that cost more than the newest page. */
export const LARGE_USER = 'bench-large';
const LARGE_READINGS = 100_000;

const TABLES = ['reading', 'reading_count', 'reading_quarter'];

/** A stack with readings and connected users, ready for load. */
export interface PreparedStack extends AsyncDisposable {
  readonly stack: Stack;
  readonly side: Side;
}

/** Defaults: one gateway and the usual environment. */
interface StackSettings {
  readonly gateways?: number;
  readonly environment?: StackOptions['environment'];
}

/** Starts a separate stack under `.data/`, fills it unless an earlier run did, and connects every user to an app. */
export async function prepareStack(
  name: string,
  options: Options,
  { gateways = 1, environment = {} }: StackSettings = {},
): Promise<PreparedStack> {
  const dataDirectory = join(defaultDataDirectory, name);
  const { fresh, users, readings, connections, seconds } = options;
  const stack = await startStack({
    dataDirectory,
    ports: { random: true, gateways },
    fresh,
    seed: false,
    environment,
    say: console.log,
  });
  console.log(`filling in ${users} users with ${readings} readings each`);
  await fillReadings(stack, users, readings);
  console.log('connecting the users to an app');
  const requestsFile = join(dataDirectory, 'requests.txt');
  await connectUsers(stack, users, requestsFile);
  const job = { connections, seconds, url: stack.gatewayUrls[0] ?? '', requestsFile };
  const processes = await findProcesses(stack, dataDirectory);
  return { stack, side: { job, processes }, [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose]() };
}

/** Name of the n-th user. The floor program and the service read the same rows. */
export function userName(n: number): string {
  return `bench-${n}`;
}

/**
 * Inserts heart readings of all users and the large one, seven minutes apart, a fifth of them HRV, with their counts and quarter hours. Does
 * nothing if they exist.
 */
async function fillReadings(stack: Stack, users: number, perUser: number): Promise<void> {
  await using client = await openClient(stack.databases['health-data'].ownerUrl);
  await client.query("SET search_path = health_data; SET timezone = 'UTC'");
  const { rows } = await client.query(
    "SELECT count(*)::int AS n FROM reading_count WHERE user_id LIKE $1 AND span = 'all'",
    ['bench-%'],
  );
  if (rows[0].n === (users + 1) * 2) return;
  await client.query(`TRUNCATE ${TABLES.join(', ')}`);
  await client.query(INSERT, [users, perUser, LARGE_USER, LARGE_READINGS]);
  await client.query(COUNT);
  await client.query(SUM_UP);
  for (const table of TABLES) await client.query(`VACUUM ANALYZE ${table}`);
}

const INSERT = `
  INSERT INTO reading (user_id, id, type, category, start_at, end_at, value, source, change_number)
  SELECT person, gen_random_uuid(), CASE WHEN n % 5 = 0 THEN 'hrv' ELSE 'heart-rate' END, 'heart',
         at, at, 50 + n % 90, 'apple-watch', 1
  FROM (SELECT 'bench-' || u, $2::int FROM generate_series(1, $1::int) u UNION ALL VALUES ($3, $4::int)) people(person, number),
       LATERAL generate_series(1, number) n,
       LATERAL (SELECT date_trunc('hour', now()) - n * interval '7 minutes' AS at) t`;

/**
 * Connects every user to one app through the public interface and writes `path token` lines. With a key, the tokens are bound to it.
 */
export async function connectUsers(
  stack: Stack,
  users: number,
  file: string,
  proofKey?: ProofKey,
): Promise<void> {
  const [gateway = ''] = stack.gatewayUrls;
  const bearer = await registerApp(gateway, await signIn(stack, 'bench-developer'), { name: 'Benchmark' });
  const app = proofKey === undefined ? bearer : bearer.boundTo(proofKey);
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

const COUNT = `
  INSERT INTO reading_count (user_id, type, span, start_at, count)
  SELECT user_id, type, span, start, count(*)
  FROM reading, LATERAL (VALUES ('day', date_trunc('day', start_at)), ('all', '-infinity')) AS covering(span, start)
  GROUP BY 1, 2, 3, 4`;

// Heart rates outside the reference range are not counted: no benchmark reads their number.
const SUM_UP = `
  INSERT INTO reading_quarter (user_id, type, at, source, count, sum, min, max, below, above)
  SELECT user_id, type, date_bin('15 minutes', start_at, '2000-01-01Z'), source, count(*), sum(value), min(value), max(value), 0, 0
  FROM reading
  GROUP BY 1, 2, 3, 4`;
