import { timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { localDate } from '@phds/catalog/local-time';
import { FakeClock } from '@phds/test-kit/fake-clock';
import pg from 'pg';
import { createCounting } from '../src/access/counts.ts';
import { toLocalDays } from '../src/access/local-days.ts';
import { type DatedRecorder, expectAppDays, startDatedRecorder } from './dated-records.ts';
import { accessOf, approve, MOOD, record, registerApp, shareConsent } from './running-service.ts';
import { verifyRecords } from './verify-command.ts';

const consent = await shareConsent({ constants: { COUNT_INTERVAL_MS: 3_600_000 } });

type Grant = Awaited<ReturnType<typeof approve>>;

describe('counts of accesses', () => {
  const USERS = ['ada', 'grace', 'edith'];
  const START = '2026-02-27T20:00:00Z';
  /** Number of histories; `pnpm nightly` runs more and longer ones. */
  const GIVEN = process.env['ACCESS_HISTORIES'];
  const SEEDS = Array.from({ length: Number(GIVEN ?? 1) }, (_, index) => index + 11);
  const STEPS = GIVEN === undefined ? 40 : 120;

  // Of the last three, one is 30 minutes, one 45 minutes off the hour, and one nearly always on another date than UTC.
  const TIME_ZONES = ['UTC', 'America/St_Johns', 'Asia/Kathmandu', 'Pacific/Kiritimati'];
  const DAY_MS = 86_400_000;

  let grants: Grant[];
  let admin: pg.Client;

  beforeAll(async () => {
    const apps = [await registerApp(consent, 'developer'), await registerApp(consent, 'developer')];
    const pairs = USERS.flatMap((user) => apps.map((app) => [app, user] as const));
    admin = new pg.Client({ connectionString: consent.database.adminUrl });
    await admin.connect();
    grants = [];
    for (const [app, user] of pairs) grants.push(await approve(consent, app, user));
  });

  afterAll(async () => {
    await admin.end();
  });

  /** Deterministic random numbers for a seed (mulberry32). */
  function createRandom(seed: number): (below: number) => number {
    let state = seed;
    return (below) => {
      state = (state + 0x6d2b79f5) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
    };
  }

  interface CountedRecord {
    readonly grant_id: string;
    readonly client_id: string;
    readonly scope: string;
    /** In each of TIME_ZONES. */
    readonly dates: readonly string[];
    readonly at: Date;
    readonly refused: boolean;
  }

  /** The records from which the counts are computed, newest first. */
  async function readRecords(user: string): Promise<CountedRecord[]> {
    const rows = await consent.rows(
      `SELECT r.grant_id, r.client_id, r.scope, r.at, f.id IS NOT NULL AS refused,
         ARRAY(SELECT to_char(r.at AT TIME ZONE zone, 'YYYY-MM-DD') FROM unnest($2::text[]) zone) AS dates
       FROM person JOIN access_record r USING (user_ref) LEFT JOIN access_record f ON f.refers_to = r.id
       WHERE user_id = $1 AND r.refers_to IS NULL ORDER BY r.id DESC`,
      user,
      TIME_ZONES,
    );
    return rows;
  }

  function countOutcomes(records: readonly CountedRecord[]) {
    const refused = records.filter((record) => record.refused).length;
    return { released: records.length - refused, refused };
  }

  async function expectExactDays(user: string, records: readonly CountedRecord[], zone: number) {
    const timeZone = TIME_ZONES[zone]!;
    const request = { from: '2026-01-01', to: '2026-12-31', timeZone };
    const { days } = await consent.as(user).listAccessDays(request);
    for (const { date, clientId, released, refused, scopes } of days) {
      const ofDay = records.filter((each) => each.dates[zone] === date && each.client_id === clientId);
      expect({ released, refused }).toEqual(countOutcomes(ofDay));
      const names = [...new Set(ofDay.map(({ scope }) => scope))].sort();
      expect(scopes).toMatchObject(
        names.map((scope) => ({
          scope,
          ...countOutcomes(ofDay.filter((record) => record.scope === scope)),
        })),
      );
    }
    expect(days.reduce((sum, day) => sum + day.released + day.refused, 0)).toBe(records.length);
  }

  async function expectExact(user: string): Promise<void> {
    const session = await consent.session(user);
    const records = await readRecords(user);
    const { total } = await consent.history.listAccesses({}, session);
    expect(total).toBe(records.length);
    for (const grant of (await consent.asGateway.listGrants({}, session)).grants) {
      const released = records.filter((record) => record.grant_id === grant.id && !record.refused);
      expect(grant.accessCount).toBe(released.length);
      expect(grant.lastAccessAt === undefined ? undefined : timestampDate(grant.lastAccessAt)).toEqual(
        released[0]?.at,
      );
    }
    for (const zone of TIME_ZONES.keys()) await expectExactDays(user, records, zone);
  }

  /** Closes every connection of the writers, at any point of their work. */
  async function cutConnections(): Promise<void> {
    await admin.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'phds-test-recorder'`,
    );
  }

  /** Two processes that randomly write, count, crash and are replaced. */
  class Processes implements AsyncDisposable {
    readonly #random: (below: number) => number;
    readonly #clock = new FakeClock(START);
    readonly #processes: DatedRecorder[];

    constructor(seed: number) {
      this.#random = createRandom(seed);
      this.#processes = [this.#start(), this.#start()];
    }

    async step(): Promise<void> {
      const index = this.#random(this.#processes.length);
      const process = this.#processes[index]!;
      const chance = this.#random(10);
      this.#clock.advance(this.#random(3) * 400_000);
      const write = () => process.recorder.record(this.#someAccesses());
      // The interrupted call may fail, or a later one that finds its connection closed.
      if (chance < 6) await Promise.allSettled([write()]);
      else if (chance === 6) await Promise.allSettled(this.#processes.map((each) => each.count()));
      else if (chance === 7) await Promise.allSettled([process.count(), write(), cutConnections()]);
      else if (chance === 8) {
        // Its chain ends here with uncounted batches, which another process counts.
        await process[Symbol.asyncDispose]();
        this.#processes[index] = this.#start();
      } else {
        // A clock that is temporarily far ahead.
        this.#clock.advance(DAY_MS);
        await Promise.allSettled([write()]);
        this.#clock.advance(-DAY_MS);
      }
    }

    async countEverything(): Promise<void> {
      await using last = this.#start();
      while ((await last.count()) > 0);
    }

    someUser(): string {
      return USERS[this.#random(USERS.length)]!;
    }

    #start(): DatedRecorder {
      return startDatedRecorder(consent.database.url, this.#clock);
    }

    #someAccesses() {
      return Array.from({ length: 1 + this.#random(4) }, () => {
        const access = accessOf(grants[this.#random(grants.length)]!);
        return this.#random(4) === 0 ? { ...access, scope: MOOD } : access;
      });
    }

    async [Symbol.asyncDispose](): Promise<void> {
      for (const process of this.#processes) await process[Symbol.asyncDispose]();
    }
  }

  test.each(SEEDS)(
    'equal those of the records at every moment, whoever writes, counts or crashes (seed %i)',
    async (seed) => {
      await using processes = new Processes(seed);
      for (let step = 0; step < STEPS; step += 1) {
        await processes.step();
        if (step % 10 === 9) await expectExact(processes.someUser());
        if (step % 10 === 9) await expectAppDays(consent.owner);
      }
      for (const user of USERS) await expectExact(user);
      await processes.countEverything();
      for (const user of USERS) await expectExact(user);
      expect(await consent.rows('SELECT count(*)::int AS n FROM access_uncounted')).toEqual([{ n: 0 }]);
      await expectAppDays(consent.owner);
      expect(await verifyRecords(consent)).toMatchObject({ ok: true });
    },
  );

  test('for a period that starts and ends within days equal those of the records, counted or not', async () => {
    await using dated = startDatedRecorder(consent.database.url, new FakeClock('2026-02-28T13:05:07.123Z'));
    const [grant] = grants;
    for (let each = 0; each < 3; each += 1) await dated.recorder.record([accessOf(grant!), accessOf(grant!)]);
    const session = await consent.session('ada');
    const records = await readRecords('ada');
    const moments = [
      '2026-02-27T21:10:00Z',
      '2026-02-28T00:00:00Z',
      '2026-02-28T13:05:07.123Z',
      '2026-03-02T04:00:00Z',
    ];
    const times = [null, ...moments.map((moment) => new Date(moment)), records.at(-1)!.at];
    const pairs = times.flatMap((from) => times.map((to) => ({ from, to })));
    const periods = pairs.filter(({ from, to }) => from === null || to === null || from < to);
    const check = async ({ from, to }: { from: Date | null; to: Date | null }) => {
      const expected = records.filter(({ at }) => (from ?? at) <= at && (to === null || at < to));
      const filter = {
        ...(from !== null && { from: timestampFromDate(from) }),
        ...(to !== null && { to: timestampFromDate(to) }),
        page: { page: 1, pageSize: 3 },
      };
      const { accesses, total } = await consent.history.listAccesses(filter, session);
      expect(total).toBe(expected.length);
      expect(accesses.map(({ at }) => timestampDate(at!))).toEqual(expected.slice(0, 3).map(({ at }) => at));
    };
    for (const period of periods) await check(period);
    while ((await dated.count()) > 0);
    for (const period of periods) await check(period);
  });
});

describe('local days', () => {
  async function readDays(user: string, request: object): Promise<[string, number][]> {
    const { days } = await consent.as(user).listAccessDays(request);
    return days.map(({ date, released }) => [date, released]);
  }

  const DAYS_OF_ZONES: [timeZone: string, why: string, firstDay: string, starts: string[]][] = [
    ['Europe/Vienna', 'a day of 23 hours', '2026-03-29', ['2026-03-28T23:00Z', '2026-03-29T22:00Z']],
    ['America/New_York', 'a day of 25 hours', '2026-11-01', ['2026-11-01T04:00Z', '2026-11-02T05:00Z']],
    ['Asia/Kathmandu', '5 hours and 45 minutes', '2026-05-01', ['2026-04-30T18:15Z', '2026-05-01T18:15Z']],
    ['Australia/Lord_Howe', 'half an hour', '2026-04-05', ['2026-04-04T13:00Z', '2026-04-05T13:30Z']],
    ['America/Santiago', 'a day from 01:00', '2025-09-07', ['2025-09-07T04:00Z', '2025-09-08T03:00Z']],
  ];

  test('accesses of the last 30 days are those until today in that zone', async () => {
    const grant = await approve(consent, await registerApp(consent), 'today');
    await record(consent, accessOf(grant));
    const { accesses } = await consent.as('today').listAccesses({});
    const at = timestampDate(accesses[0]!.at!);
    for (const timeZone of ['Pacific/Kiritimati', 'Pacific/Pago_Pago']) {
      expect(await readDays('today', { timeZone })).toEqual([[localDate(at, timeZone), 1]]);
    }
  });

  test.each(['Mars/Olympus', '+01:00', 'EST5EDT; DROP', 'CET '])(
    'refuse the time zone %j',
    async (timeZone) => {
      await expect(readDays('anybody', { timeZone })).rejects.toMatchObject({
        reason: 'invalid_request',
        violations: [expect.objectContaining({ parameter: 'timeZone' })],
      });
    },
  );

  test.each(DAYS_OF_ZONES)('are divided at local midnight: %s (%s)', (timeZone, _why, day, expected) => {
    const { starts } = toLocalDays(day, day, timeZone);
    expect(starts.map((quarter) => quarter * 900_000)).toEqual(expected.map((start) => Date.parse(start)));
  });
});

describe('counting in the background', () => {
  test('ends with the service, whatever is left to count', async () => {
    const service = new AbortController();
    let turns = 0;
    const counting = createCounting(async (atMost) => {
      turns += 1;
      if (turns === 3) service.abort();
      return turns < 100 ? atMost : 0;
    });
    await counting(service.signal);
    expect(turns).toBe(3);
  });

  test('counts batches that are too large for the time of one statement in smaller portions', async () => {
    const portions: number[] = [];
    let left = 40;
    const counting = createCounting(async (atMost) => {
      portions.push(atMost);
      if (atMost > 30) throw new Error('canceling statement due to statement timeout');
      const taken = Math.min(atMost, left);
      left -= taken;
      return taken;
    });
    const { signal } = new AbortController();
    for (let run = 0; run < 10; run += 1) await counting(signal).catch(() => undefined);
    expect(left).toBe(0);
    expect(portions.slice(0, 5)).toEqual([200, 100, 50, 25, 50]);
  });
});
