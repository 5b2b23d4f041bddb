import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { expect, test } from '@jest/globals';
import { startOfDay } from '@phds/catalog/local-time';
import { deleteReadings, putReadings } from '../src/ingest-readings.ts';
import { putProfile } from '../src/profiles.ts';
import { type Instance, sharePorts } from './reference/ports.ts';
import { SyncingApp } from './reference/syncing-app.ts';
import { makeNetworkUneven } from './uneven-network.ts';

const WORKERS = 6;
/** Number of histories; `pnpm prove:sync` runs many, of a random seed. */
const GIVEN = process.env['SYNC_HISTORIES'];
const HISTORIES = Number(GIVEN ?? WORKERS);
const RANDOM_SEED = Math.trunc(Math.random() * 2 ** 30);
const SEED = Number(process.env['SYNC_SEED'] ?? (GIVEN === undefined ? 1 : RANDOM_SEED));

const ports = await sharePorts('2026-03-01T12:00:00.000Z');

/** Numbers from 0 to below `end` that depend only on the seed (mulberry32). */
function createRandom(seed: number): (end: number) => number {
  let state = seed;
  return (end) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % end;
  };
}

type Random = ReturnType<typeof createRandom>;

function pick<Value>(random: Random, values: readonly Value[]): Value {
  return values[random(values.length)] as Value;
}

function times<Value>(number: number, toValue: () => Value): Value[] {
  return Array.from({ length: number }, toValue);
}

const DAY_MS = 86_400_000;
const FIRST_DAY = Date.UTC(2025, 5, 1);

/** One of a few hundred keys, some with the same start, so that writes meet again and again. */
function toKey(random: Random) {
  const at = FIRST_DAY + random(20) * DAY_MS + random(4) * 3_600_000;
  const [start, end] = [timestampFromMs(at), timestampFromMs(at + random(2) * 60_000)];
  const type = pick(random, ['Heart Rate', 'Resting HR', 'Steps']);
  return { type, start, end, source: pick(random, ['apple-watch', 'iphone']) };
}

/** One call of an importer. */
function toWrite(random: Random, userId: string): ({ ingestion }: Instance) => Promise<unknown> {
  const kind = random(20);
  if (kind < 11) {
    const drafts = times(1 + random(12), () => ({ ...toKey(random), value: 50 + random(30), unit: '' }));
    return ({ ingestion }) => putReadings(ingestion, { userId, readings: drafts });
  }
  if (kind < 15) {
    const keys = times(1 + random(12), () => toKey(random));
    return ({ ingestion }) => deleteReadings(ingestion, { userId, keys });
  }
  if (kind < 19) {
    const from = FIRST_DAY + random(20) * DAY_MS;
    const to = from + random(4) * DAY_MS;
    const window = {
      type: pick(random, ['Heart Rate', 'Resting HR']),
      source: pick(random, ['', 'iphone']),
      from: timestampFromMs(from),
      to: timestampFromMs(to),
    };
    return ({ ingestion }) => deleteReadings(ingestion, { userId, windows: [window] });
  }
  const zone = pick(random, ['UTC', 'Pacific/Auckland', 'America/New_York']);
  if (random(3) > 0) return ({ ingestion }) => putProfile(ingestion.profiles, { userId, timeZone: zone });
  return ({ ingestion }) => ingestion.eraser.erase(userId);
}

const DAYS = [null, '2025-06-05', '2025-06-10', '2025-06-15'] as const;

/** Lets two importers and an app work at the same time; then the app reads to the end. */
async function live(seed: number): Promise<SyncingApp> {
  const random = createRandom(seed);
  const userId = `person ${seed}`;
  const app = new SyncingApp(userId, pick(random, ['', 'Heart Rate', 'Resting HR']));
  app.dataFrom = pick(random, DAYS);
  const step = () => app.step(pick(random, ports.instances), pick(random, [1, 3, 10, 100]), random(5) === 0);
  for (let round = 0; round < 8; round += 1) {
    if (random(8) === 0) app.dataFrom = pick(random, DAYS);
    let working = true;
    const importers = ports.instances.map(async (instance) => {
      for (const write of times(1 + random(4), () => toWrite(random, userId))) await write(instance);
    });
    const written = Promise.all(importers).finally(() => {
      working = false;
    });
    // Stops after a few answers, or goes on as long as the importers work.
    for (let steps = random(12); working && steps > 0; steps -= 1) await step();
    await written;
  }
  const last = pick(random, ports.instances);
  while (await app.step(last, 100, false));
  return app;
}

async function check(seed: number): Promise<void> {
  const app = await live(seed);
  const [{ data }] = ports.instances;
  const zone = (await data.profiles.findTimeZone(`person ${seed}`)) ?? 'UTC';
  const since = app.dataFrom === null ? '' : startOfDay(app.dataFrom, zone).toISOString();
  // What the person has hidden since stays in the copy: the app learns of it by its grant, not by changes.
  const kept = app.kept.filter(({ timestamp }) => timestamp >= since);
  expect({ seed, readings: kept }).toEqual({ seed, readings: await app.list(ports.instances[1]) });
}

test(
  'an app that stops, loses answers and resumes while two importers write ends with exactly the readings of the list',
  async () => {
    using _ = makeNetworkUneven(createRandom(SEED));
    const seeds = Array.from({ length: HISTORIES }, (_, index) => SEED + index);
    const work = async () => {
      for (let seed = seeds.pop(); seed !== undefined; seed = seeds.pop()) await check(seed);
    };
    await Promise.all(times(WORKERS, work));
  },
  30_000 + HISTORIES * 2_000,
);
