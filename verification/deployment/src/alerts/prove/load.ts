import { setTimeout as delay } from 'node:timers/promises';
import { ingestReadings } from '@phds/running-system/ingestion';
import { expectStatus } from '@phds/running-system/partner-app';
import { HEART } from '@phds/running-system/revocation-ways';
import { HEART_PATH } from '@phds/running-system/working-system';
import type { Site } from './site.ts';

const READ_EVERY_MS = 100;
const CHANGE_EVERY_MS = 500;

/** A little steady use of the first gateway: reads, connections that are revoked, and readings that are imported. Disposal waits for it. */
export function startLoad(site: Site): AsyncDisposable {
  const ending = new AbortController();
  const loops = [
    repeat(READ_EVERY_MS, ending.signal, () => read(site)),
    repeat(CHANGE_EVERY_MS, ending.signal, () => connectAndRevoke(site)),
    repeat(CHANGE_EVERY_MS, ending.signal, (turn) => importReading(site, turn)),
  ];
  return {
    async [Symbol.asyncDispose]() {
      ending.abort();
      await Promise.all(loops);
    },
  };
}

/** Sends as many reads at once, again and again, until the signal. Never rejects. */
export async function readAtOnce(site: Site, readers: number, signal: AbortSignal): Promise<void> {
  await Promise.all(Array.from({ length: readers }, () => repeat(0, signal, () => read(site))));
}

/** Errors are what the alerts are about, so they are not reported here. */
export async function repeat(
  everyMs: number,
  signal: AbortSignal,
  act: (turn: number) => Promise<unknown>,
): Promise<void> {
  for (let turn = 0; !signal.aborted; turn += 1) {
    await act(turn).catch(() => delay(READ_EVERY_MS));
    if (everyMs > 0) await delay(everyMs);
  }
}

async function read({ person: { app, tokens } }: Site): Promise<void> {
  expectStatus(200, await app.read(tokens.accessToken, HEART_PATH));
}

async function connectAndRevoke({ stack, revoking: { app, session } }: Site): Promise<void> {
  const code = await app.expectCode(session, [HEART]);
  await app.expectTokens(code.code);
  const url = `${stack.gateway}/partner/consent/grants/${code.grantId}`;
  await fetch(url, { method: 'DELETE', headers: { authorization: `Bearer ${session}` } });
}

async function importReading({ stack }: Site, turn: number): Promise<void> {
  const at = new Date(Date.UTC(2026, 0, 1) + turn * 60_000).toISOString();
  await ingestReadings(stack, 'imported', [
    { type: 'Heart Rate', value: 60, start: at, end: at, source: 'apple-watch' },
  ]);
}
