import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Stack } from '@phds/local-stack/stack';
import { openClient } from '@phds/test-kit/open-client';
import { scrape } from '@phds/test-kit/scrape';
import { Redis } from 'ioredis';

/** A place that may contain secrets, with all its content as text. */
export interface Place {
  readonly name: string;
  readonly text: string;
}

/** Every row of every table of the three schemas. Numbers, texts, arrays and JSON are unchanged; bytes are hex. */
export async function readTables({ databases }: Pick<Stack, 'databases'>): Promise<Place[]> {
  const places: Place[] = [];
  for (const { ownerUrl, schema } of Object.values(databases)) {
    await using client = await openClient(ownerUrl);
    const tables = await client.query<{ name: string }>(
      `SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'm', 'f') ORDER BY 1`,
      [schema],
    );
    for (const { name } of tables.rows) {
      const table = `${client.escapeIdentifier(schema)}.${client.escapeIdentifier(name)}`;
      const { rows } = await client.query<{ row: string }>(`SELECT t::text AS row FROM ${table} t`);
      places.push({ name: `${schema}.${name}`, text: rows.map(({ row }) => row).join('\n') });
    }
  }
  return places;
}

/** Every log file. */
export async function readLogs({ logs }: Pick<Stack, 'logs'>): Promise<Place[]> {
  const names = await readdir(logs);
  return Promise.all(
    names.map(async (name) => ({ name: `log ${name}`, text: await readFile(join(logs, name), 'utf8') })),
  );
}

/** The metrics at these probe addresses. */
export async function readScrapes(urls: readonly string[]): Promise<Place[]> {
  return Promise.all(urls.map(async (url) => ({ name: url, text: (await scrape(url)).text })));
}

/** Every key of Redis with its value. */
export async function readRedis(url: string): Promise<Place> {
  const redis = new Redis(url);
  const lines: string[] = [];
  for (const key of await redis.keys('*')) lines.push(key, (await redis.dump(key)) ?? '');
  redis.disconnect();
  return { name: 'redis', text: lines.join('\n') };
}

/**
 * Searches the places for the canaries, in plain text and as hex or base64 of their bytes. Returns findings as `place: name of the
 * canary`.
 */
export function findLeaks(places: readonly Place[], canaries: ReadonlyMap<string, string>): string[] {
  return places.flatMap(({ name, text }) =>
    [...canaries]
      .filter(([, canary]) => toForms(canary).some((form) => text.includes(form)))
      .map(([what]) => `${name}: ${what}`),
  );
}

/**
 * The forms in which a text could occur. In base64, only a middle piece is searched for, because the rest depends on the preceding
 * bytes.
 */
function toForms(canary: string): string[] {
  const bytes = Buffer.from(canary);
  const shifted = [0, 1, 2].map((skip) => bytes.subarray(skip, skip + 24).toString('base64'));
  return [canary, encodeURIComponent(canary), bytes.toString('hex'), ...shifted];
}
