import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from '@jest/globals';
import { SCOPE_NAMES, SUMMARY_SCOPES } from '@phds/catalog/scopes';
import { Endpoint } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { SESSION_METADATA } from '@phds/service-kit/rpc/context';
import { bodyOf, NOW, reading, reasonOf, refusalOf, shareHarness } from './harness.ts';

const harness = await shareHarness();
await harness.ingestion.putProfile({ userId: 'ada', name: 'Ada', timeZone: 'Europe/Berlin' });
await harness.putReadings('ada', [
  ...Array.from({ length: 7 }, (_, index) =>
    reading('Heart Rate', `2026-02-2${index}T10:00:00Z`, 60 + index),
  ),
  // The first of the last 30 days in Berlin, and the instant before it.
  reading('Heart Rate', '2026-01-30T23:00:00Z', 50),
  reading('Heart Rate', '2026-01-30T22:59:59Z', 49),
  reading('Steps', '2026-02-28T10:00:00Z', 500),
]);
await harness.putHealthRecords('ada', [
  { key: 'a', source: 'ehr', record: { case: 'medication', value: { name: 'Aspirin' } } },
  ...Array.from({ length: 7 }, (_, day) => doseOn(day, 'a')),
  doseOn(8, 'of-no-medication'),
]);

async function preview(scope: string, userId = 'ada', dataFrom = '') {
  const session = await harness.sessions.issueSession(userId);
  const { body } = await harness.previews.preview(
    { scope, dataFrom },
    { headers: { [SESSION_METADATA]: session } },
  );
  return JSON.parse(new TextDecoder().decode(body));
}

function doseOn(day: number, medicationKey: string) {
  const takenAt = timestampFromDate(new Date(Date.UTC(2026, 1, 1 + day, 8)));
  return {
    key: `dose-${day}`,
    source: 'ehr',
    record: { case: 'adherenceEntry' as const, value: { medicationKey, status: 'taken', takenAt } },
  };
}

const withoutId = ({ id: _, ...shown }: { id: string }) => shown;

describe('Preview', () => {
  test('shows the newest five items as an app would receive them except for their ids, the total, and daily points of the last 30 days', async () => {
    const { data } = await preview('read:health-data:heart');
    const list = bodyOf(
      await harness.reads.read(
        { endpoint: Endpoint.HEALTH_DATA, category: 'heart' },
        await harness.about('ada'),
      ),
    );
    expect(Object.keys(data)).toEqual(['scope', 'total', 'newest', 'trend']);
    expect(data).toMatchObject({ scope: 'read:health-data:heart', total: 9 });
    expect(data.newest.map(withoutId)).toEqual(list.data.slice(0, 5).map(withoutId));
    expect(data.newest).toHaveLength(5);
    expect(data.trend).toHaveLength(8);
    expect(data.trend.at(-1)).toMatchObject({
      type: 'Heart Rate',
      start: '2026-01-31T00:00:00+01:00',
      value: 50,
    });
  });

  test.each([
    ['after the clock was put forward', '2026-04-10T22:30:00Z', '2026-03-13T00:00:00+01:00'],
    ['after the clock was put back', '2026-11-10T22:30:00Z', '2026-10-12T00:00:00+02:00'],
  ])('the 30 days are those of the calendar %s', async (_, now, firstDay) => {
    const userId = `of-${firstDay}`;
    harness.clock.set(now);
    const first = Date.parse(firstDay);
    await harness.ingestion.putProfile({ userId, timeZone: 'Europe/Berlin' });
    await harness.putReadings(
      userId,
      [first - 1000, first].map((at) => reading('Heart Rate', new Date(at).toISOString(), 60)),
    );
    const { data } = await preview('read:health-data:heart', userId);
    harness.clock.set(NOW);
    expect(data.trend).toMatchObject([{ start: firstDay, count: 1 }]);
  });

  test('has no trend for records, and one item for the profile', async () => {
    expect((await preview('read:medications')).data).toMatchObject({
      total: 1,
      newest: [{ name: 'Aspirin' }],
      trend: [],
    });
    expect((await preview('read:profile')).data).toMatchObject({
      total: 1,
      newest: [{ name: 'Ada' }],
      trend: [],
    });
    expect((await preview('read:aggregations')).data).toMatchObject({
      total: 2,
      newest: [{ type: 'Heart Rate' }, { type: 'Steps' }],
    });
  });

  test('shows the newest doses of medications that an app could read', async () => {
    const { data } = await preview('read:medications');
    expect(data.doses.total).toBe(7);
    expect(data.doses.newest).toEqual(
      ['07', '06', '05', '04', '03'].map((day) => ({
        medication: 'Aspirin',
        scheduledAt: null,
        status: 'taken',
        takenAt: `2026-02-${day}T08:00:00.000Z`,
        dose: null,
        reason: null,
      })),
    );
  });

  test('shows no more than an app would receive that may look back to a day in the zone of the person', async () => {
    const from = async (scope: string, day: string) => (await preview(scope, 'ada', day)).data;
    const heart = await from('read:health-data:heart', '2026-02-25');
    expect(heart).toMatchObject({ total: 2, newest: [{ value: 66 }, { value: 65 }] });
    expect(heart.trend).toHaveLength(2);
    expect(await from('read:health-data:heart', '2026-01-31')).toMatchObject({ total: 8 });
    expect(await from('read:trends', '2026-02-28')).toMatchObject({ total: 1, trend: [{ type: 'Steps' }] });
    expect((await from('read:medications', '2026-02-06')).doses).toMatchObject({ total: 2 });
    const refused = preview('read:mood', 'ada', '2026-02-30');
    expect((await refusalOf(refused)).violations[0]?.parameter).toBe('dataFrom');
  });

  test('works for every scope, even without data, and records nothing', async () => {
    harness.consent.forget();
    for (const scope of SCOPE_NAMES) {
      const { data } = await preview(scope, 'empty');
      expect(data).toMatchObject({ scope, total: 0, trend: [] });
    }
    expect(harness.consent.accesses).toHaveLength(0);
  });

  test('requires a session, not an assertion, and a known scope', async () => {
    const call = (headers: Record<string, string>) =>
      harness.previews.preview({ scope: 'read:mood' }, { headers });
    expect(await reasonOf(call({}))).toBe('unauthorized');
    expect(await reasonOf(call({ [SESSION_METADATA]: 'garbage' }))).toBe('unauthorized');
    expect(await reasonOf(call((await harness.about('ada')).headers))).toBe('unauthorized');
    expect((await refusalOf(preview('read:everything'))).violations[0]?.parameter).toBe('scope');
  });
});

describe('Overview', () => {
  const overview = async (userId: string) => {
    const session = await harness.sessions.issueSession(userId);
    const { body } = await harness.previews.overview({}, { headers: { [SESSION_METADATA]: session } });
    return JSON.parse(new TextDecoder().decode(body)).data as {
      scope: string;
      total: number;
      latest: unknown;
    }[];
  };

  test('tells of each type that is held how much there is, and the newest as an app would receive it', async () => {
    harness.consent.forget();
    const found = new Map((await overview('ada')).map(({ scope, ...held }) => [scope, held]));
    const held = SCOPE_NAMES.filter((scope) => !SUMMARY_SCOPES.includes(scope));
    expect([...found.keys()].toSorted()).toEqual(held.toSorted());
    expect(found.get('read:health-data:heart')).toMatchObject({
      total: 9,
      latest: { type: 'Heart Rate', value: 66, unit: '/min', timestamp: '2026-02-26T10:00:00.000Z' },
    });
    // Medications have no time, so none is the newest.
    expect(found.get('read:medications')).toEqual({ total: 1, latest: null });
    expect(found.get('read:profile')).toEqual({ total: 1, latest: null });
    expect(found.get('read:mood')).toEqual({ total: 0, latest: null });
    expect(harness.consent.accesses).toHaveLength(0);
  });

  test('requires a session', async () => {
    expect(await reasonOf(harness.previews.overview({}))).toBe('unauthorized');
  });
});
