import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { startRunningStack } from '@phds/running-system/running-stack';
import pg from 'pg';

const OWNERS = 6;
const APPS_OF_AN_OWNER = 3;
const EVENTS_OF_AN_APP = 50;
const IDLE_ENDPOINTS = 5_000;
const ANSWER_MS = 9_000;
const REVOCATIONS = 5;
const LIMIT_MS = 150_000;

/** The time until `grant.revoked` arrives at an app beside receivers that answer after nine seconds, and what looking for events costs. */
export async function benchReceivers(): Promise<string> {
  await using stack = await startRunningStack({ redis: false });
  const database = new pg.Client({ connectionString: stack.databases.consent.ownerUrl });
  await database.connect();
  const arrivals = new Map<string, () => void>();
  const server = createServer((request, response) => {
    const answer = () => response.writeHead(204).end();
    if (request.url === '/slow') return void setTimeout(answer, ANSWER_MS).unref();
    arrivals.get(String(request.headers['webhook-id']))?.();
    answer();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const add = (first: number, count: number, url: string) => database.query(ADD_APPS, [first, count, url]);
  const revoke = async (index: number) => {
    const id = `evt_bench_${index}`;
    const arrived = new Promise<void>((resolve) => void arrivals.set(id, resolve));
    await database.query(ADD_EVENTS, ['whk-bench-0', 1, id]);
    const at = performance.now();
    await Promise.race([arrived, wait(LIMIT_MS, undefined, { ref: false })]);
    return ((performance.now() - at) / 1000).toFixed(1);
  };
  try {
    await add(0, 1, `http://127.0.0.1:${port}/fast`);
    await add(1_000, IDLE_ENDPOINTS, 'https://idle.test/');
    const alone = await revoke(-1);
    const before = await endpointsRead(database);
    await wait(10_000);
    const reads = Math.round(((await endpointsRead(database)) - before) / 10);
    for (let owner = 0; owner < OWNERS; owner += 1) {
      const first = 1 + owner * APPS_OF_AN_OWNER;
      await add(first, APPS_OF_AN_OWNER, `http://slow-${owner}.localhost:${port}/slow`);
      for (let app = first; app < first + APPS_OF_AN_OWNER; app += 1)
        await database.query(ADD_EVENTS, [`whk-bench-${app}`, EVENTS_OF_AN_APP, `evt_slow_${app}`]);
    }
    await wait(5_000);
    const seconds = await Promise.all(
      Array.from({ length: REVOCATIONS }, async (_, index) => {
        await wait(index * 5_000);
        return await revoke(index);
      }),
    );
    return `\n| alone, s | beside ${OWNERS * APPS_OF_AN_OWNER} slow receivers, s | of ${IDLE_ENDPOINTS} idle endpoints read, 1/s |\n|---|---|---|\n| ${alone} | ${seconds.join(', ')} | ${reads} |`;
  } finally {
    await database.end();
    server.closeAllConnections();
    server.close();
  }
}

/** Rows of endpoints that were read, as far as the processes of Postgres have reported it. */
async function endpointsRead(database: pg.Client): Promise<number> {
  const { rows } = await database.query(
    `SELECT (seq_tup_read + idx_tup_fetch)::float AS read FROM pg_stat_user_tables WHERE relname = 'webhook_endpoint'`,
  );
  return rows[0].read;
}

/** Apps $1 to $1 + $2 with endpoint $3, three of an owner. */
const ADD_APPS = `
  WITH numbered AS (SELECT n FROM generate_series($1::int, $1::int + $2::int - 1) n), added AS (
    INSERT INTO consent.app (client_id, owner_id, name, homepage_url, privacy_policy_url, logo_url)
    SELECT 'bench-' || n, 'owner-' || (n + 2) / 3, 'Bench', '', '', '' FROM numbered)
  INSERT INTO consent.webhook_endpoint (id, client_id, url, events)
  SELECT 'whk-bench-' || n, 'bench-' || n, $3, ARRAY['grant.revoked'] FROM numbered`;

/** So many events for an endpoint, as revocations add them. */
const ADD_EVENTS = `
  INSERT INTO consent.webhook_event (id, endpoint_id, grant_id, sub_hash, type)
  SELECT CASE $2::int WHEN 1 THEN $3 ELSE $3 || '_' || n END, $1, $3 || '_' || n, decode(repeat('00', 32), 'hex'), 'grant.revoked'
  FROM generate_series(1, $2::int) n`;
