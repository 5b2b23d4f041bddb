import { timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { localDate } from '@phds/catalog/local-time';
import { FakeClock } from '@phds/test-kit/fake-clock';
import { toLocalDays } from '../src/domain/local-days.ts';
import { type DatedRecorder, startDatedRecorder } from './dated-recorder.ts';
import {
  accessOf,
  approve,
  HEART,
  MOOD,
  type RunningService,
  record,
  registerApp,
  startConsent,
} from './running-service.ts';

type Grant = Awaited<ReturnType<typeof approve>>;

// What the previous release counted with, except that it also took the batches from access_uncounted.
const COUNT_OF_THE_RELEASE_BEFORE = `
  INSERT INTO access_day AS kept (user_ref, grant_id, day, client_id, scope, endpoint, recorded, refused, last_at)
  SELECT user_ref, $1, $2, $3, $4, '/api/v1/health-data/heart', $5, 0, now() FROM person WHERE user_id = $6
  ON CONFLICT (user_ref, grant_id, day, client_id, scope, endpoint) DO UPDATE SET
    recorded = kept.recorded + excluded.recorded, refused = kept.refused + excluded.refused,
    last_at = greatest(kept.last_at, excluded.last_at)`;

let consent: RunningService;
let dated: DatedRecorder;
const clock = new FakeClock('2026-03-01T00:00:00Z');

beforeAll(async () => {
  // Only the test counts.
  consent = await startConsent({ settings: { COUNT_INTERVAL_MS: '3600000' } });
  dated = startDatedRecorder(consent.database.url, clock);
});
afterAll(async () => {
  await dated?.[Symbol.asyncDispose]();
  await consent?.[Symbol.asyncDispose]();
});

const approveFor = async (user: string): Promise<Grant> => approve(consent, await registerApp(consent), user);

async function recordAt(grant: Grant, ...times: readonly string[]): Promise<void> {
  for (const time of times) {
    // A new chain each time, so that times may decrease.
    clock.set(new Date(time));
    await using recorder = startDatedRecorder(consent.database.url, clock);
    await recorder.recorder.record([accessOf(grant)]);
  }
}

async function countEverything(): Promise<void> {
  while ((await dated.count()) > 0);
}

async function readDays(user: string, request: object): Promise<[string, number][]> {
  const { days } = await consent.history.listAccessDays(request, await consent.session(user));
  return days.map(({ date, released }) => [date, released]);
}

/** Instants around the ends of days, and the local dates that they have in a zone. */
const ENDS_OF_DAYS: readonly { timeZone: string; why: string; dates: Readonly<Record<string, string>> }[] = [
  {
    timeZone: 'Europe/Vienna',
    why: 'a day of 23 hours',
    dates: {
      '2026-03-28T22:59:59.999Z': '2026-03-28',
      '2026-03-28T23:00:00.000Z': '2026-03-29',
      '2026-03-29T21:59:59.999Z': '2026-03-29',
      '2026-03-29T22:00:00.000Z': '2026-03-30',
    },
  },
  {
    timeZone: 'America/New_York',
    why: 'a day of 25 hours',
    dates: {
      '2026-11-01T03:59:59.999Z': '2026-10-31',
      '2026-11-01T04:00:00.000Z': '2026-11-01',
      '2026-11-02T04:59:59.999Z': '2026-11-01',
      '2026-11-02T05:00:00.000Z': '2026-11-02',
    },
  },
  {
    timeZone: 'Asia/Kathmandu',
    why: 'an offset of 5 hours and 45 minutes',
    dates: {
      '2026-05-01T18:14:59.999Z': '2026-05-01',
      '2026-05-01T18:15:00.000Z': '2026-05-02',
    },
  },
  {
    timeZone: 'Australia/Lord_Howe',
    why: 'clocks that change by half an hour',
    dates: {
      '2026-04-04T12:59:59.999Z': '2026-04-04',
      '2026-04-04T13:00:00.000Z': '2026-04-05',
      '2026-04-05T13:29:59.999Z': '2026-04-05',
      '2026-04-05T13:30:00.000Z': '2026-04-06',
    },
  },
  {
    timeZone: 'America/Santiago',
    why: 'a day that begins at 01:00',
    dates: {
      '2025-09-07T03:59:59.999Z': '2025-09-06',
      '2025-09-07T04:00:00.000Z': '2025-09-07',
      '2025-09-08T02:59:59.999Z': '2025-09-07',
      '2025-09-08T03:00:00.000Z': '2025-09-08',
    },
  },
];

describe('accesses by day of a time zone', () => {
  test.each(ENDS_OF_DAYS)('are divided at local midnight: $timeZone ($why)', async ({ timeZone, dates }) => {
    const user = `reader of ${timeZone}`.replaceAll(/\W/g, '-');
    const grant = await approveFor(user);
    await recordAt(grant, ...Object.keys(dates));
    const counts = Map.groupBy(Object.values(dates), (date) => date);
    const expected = [...counts].map(([date, all]) => [date, all.length]).reverse();
    const [first, last] = [Object.values(dates)[0]!, Object.values(dates).at(-1)!];
    const check = async () => {
      expect(await readDays(user, { from: first, to: last, timeZone })).toEqual(expected);
      for (const [date, all] of counts) {
        expect(await readDays(user, { from: date, to: date, timeZone })).toEqual([[date, all.length]]);
      }
    };
    await check();
    await countEverything();
    await check();
  });

  test('of the last 30 days are those until today in that zone', async () => {
    const grant = await approveFor('today');
    await record(consent, accessOf(grant));
    const { accesses } = await consent.history.listAccesses({}, await consent.session('today'));
    const at = timestampDate(accesses[0]!.at!);
    for (const timeZone of ['Pacific/Kiritimati', 'Pacific/Pago_Pago']) {
      expect(await readDays('today', { timeZone })).toEqual([[localDate(at, timeZone), 1]]);
    }
  });

  test('are listed one by one for the instants at which an app begins and ends its day', async () => {
    const grant = await approveFor('lister');
    const other = await approveFor('lister');
    await recordAt(grant, '2026-06-10T17:00:00Z', '2026-06-10T18:30:00Z', '2026-06-11T18:00:00Z');
    await recordAt(other, '2026-06-11T00:00:00Z');
    const { starts } = toLocalDays('2026-06-11', '2026-06-11', 'Asia/Kathmandu');
    const [from, to] = starts.map((quarter) => timestampFromDate(new Date(quarter * 900_000)));
    const filter = { clientId: grant.clientId, from: from!, to: to! };
    const { accesses, total } = await consent.history.listAccesses(filter, await consent.session('lister'));
    expect(total).toBe(2);
    expect(accesses.map(({ at }) => timestampDate(at!).toISOString())).toEqual([
      '2026-06-11T18:00:00.000Z',
      '2026-06-10T18:30:00.000Z',
    ]);
  });

  test('say how many of each scope were released and refused', async () => {
    const grant = await approveFor('scopes');
    clock.set(new Date('2026-06-20T23:00:00Z'));
    await dated.recorder.record([accessOf(grant), accessOf(grant), { ...accessOf(grant), scope: MOOD }]);
    const request = { from: '2026-06-21', to: '2026-06-21', timeZone: 'Europe/Vienna' };
    const { days } = await consent.history.listAccessDays(request, await consent.session('scopes'));
    expect(days).toMatchObject([
      {
        date: '2026-06-21',
        released: 2,
        refused: 1,
        scopes: [
          { scope: HEART, released: 2, refused: 0 },
          { scope: MOOD, released: 0, refused: 1 },
        ],
      },
    ]);
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
});

describe('accesses that the release before counted, by UTC day only', () => {
  test('are shown at the date of their UTC day, once, also when both releases count the same day', async () => {
    const grant = await approveFor('upgraded');
    const countBefore = (recorded: number) =>
      consent.owner.query(COUNT_OF_THE_RELEASE_BEFORE, [
        grant.grantId,
        '2026-07-01',
        grant.clientId,
        HEART,
        recorded,
        'upgraded',
      ]);
    const week = { from: '2026-06-28', to: '2026-07-04' };
    const expectDays = async (...expected: [string, number][]) =>
      expect(await readDays('upgraded', { ...week, timeZone: 'Europe/Vienna' })).toEqual(expected);
    await countBefore(3);
    await expectDays(['2026-07-01', 3]);
    await recordAt(grant, '2026-07-01T21:59:00Z', '2026-07-01T22:00:00Z');
    await countEverything();
    await expectDays(['2026-07-02', 1], ['2026-07-01', 4]);
    await countBefore(2);
    await expectDays(['2026-07-02', 1], ['2026-07-01', 6]);
    await recordAt(grant, '2026-07-01T22:01:00Z');
    await countEverything();
    await expectDays(['2026-07-02', 2], ['2026-07-01', 6]);
    expect(await readDays('upgraded', week)).toEqual([['2026-07-01', 8]]);
    expect(
      await readDays('upgraded', { from: '2026-07-02', to: '2026-07-02', timeZone: 'Europe/Vienna' }),
    ).toEqual([['2026-07-02', 2]]);
  });
});

test('the days of every time zone begin at whole quarter hours', () => {
  for (const timeZone of Intl.supportedValuesOf('timeZone')) {
    for (const year of [2020, 2026, 2035]) {
      for (const month of ['03', '10']) {
        const { from, starts } = toLocalDays(`${year}-${month}-28`, `${year}-${month}-29`, timeZone);
        const first = new Date(starts[0]! * 900_000);
        expect([localDate(first, timeZone), timeZone]).toEqual([from, timeZone]);
        expect(localDate(new Date(first.getTime() - 1), timeZone) < from).toBe(true);
        expect(starts[1]).toBeGreaterThan(starts[0]!);
      }
    }
  }
});
