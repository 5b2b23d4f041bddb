import { hash } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { getMetric } from '@phds/catalog/metrics';
import { Endpoint } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { SESSION_METADATA } from '@phds/service-kit/rpc/context';
import { createPublicIds } from '../src/public-ids.ts';
import { toHealthRecordId, toReadingId } from '../src/row-ids.ts';
import { at, bodyOf, type Harness, reading, refusalOf, shareHarness, textOf } from './harness.ts';
import { fillOneOfEach, recordsOf } from './one-of-each.ts';

const harness = await shareHarness();
await fillOneOfEach(harness, 'ada');
beforeEach(() => harness.consent.forget());

type About = Awaited<ReturnType<Harness['about']>>;

const list =
  (request: { endpoint: Endpoint; category?: string }) =>
  ({ reads }: Harness, about: About) =>
    reads.read(request, about);

/** The lists whose items have ids, as an app reads them; adherence uses the first medication. */
const LISTS = {
  readings: list({ endpoint: Endpoint.HEALTH_DATA, category: 'heart' }),
  weight: list({ endpoint: Endpoint.WEIGHT }),
  symptoms: list({ endpoint: Endpoint.SYMPTOMS }),
  medications: list({ endpoint: Endpoint.MEDICATIONS }),
  conditions: list({ endpoint: Endpoint.CONDITIONS }),
  allergies: list({ endpoint: Endpoint.ALLERGIES }),
  appointments: list({ endpoint: Endpoint.APPOINTMENTS }),
  mood: list({ endpoint: Endpoint.MOOD }),
  reports: list({ endpoint: Endpoint.REPORTS }),
  ehr: list({ endpoint: Endpoint.EHR }),
  adherence: async ({ reads }: Harness, about: About) => {
    const [medication] = bodyOf(await reads.read({ endpoint: Endpoint.MEDICATIONS }, about)).data;
    return reads.read({ endpoint: Endpoint.ADHERENCE, medicationId: medication.id }, about);
  },
};

type ListName = keyof typeof LISTS;

const LIST_NAMES = Object.keys(LISTS) as ListName[];

const START = '2026-01-02T10:00:00Z';
const toDigits = (rowId: string) => rowId.replaceAll('-', '');
/** The row id of ada's heart rate. */
const READING = toDigits(
  toReadingId('ada', {
    metric: getMetric('heart-rate'),
    startAt: new Date(START),
    endAt: new Date(START),
    source: 'apple-watch',
  }),
);

const asApp = (clientId: string, userId = 'ada') => harness.about(userId, { clientId });

async function readAs(clientId: string, name: ListName, userId = 'ada') {
  const answer = await LISTS[name](harness, await asApp(clientId, userId));
  return { etag: answer.etag, text: textOf(answer), items: bodyOf(answer).data };
}

describe.each(LIST_NAMES)('the ids and the entity tag of %s', (name) => {
  test('are the same for one app at every request, and different for another app', async () => {
    const first = await readAs('app_one', name);
    const other = await readAs('app_two', name);
    expect(first.items).toHaveLength(1);
    expect(await readAs('app_one', name)).toEqual(first);
    const [{ id, ...shown }] = first.items;
    const [{ id: otherId, ...shownToOther }] = other.items;
    expect(shownToOther).toEqual(shown);
    expect(otherId).toMatch(/^[a-z]{3,4}_[0-9a-f]{32}$/);
    expect(otherId).not.toBe(id);
    expect(other.etag).not.toBe(first.etag);
  });
});

test('an empty page and a response without ids have a different entity tag for another app, and none is a digest of the body', async () => {
  const answers = {
    empty: (about: About) =>
      harness.reads.read({ endpoint: Endpoint.MOOD, parameters: { page: { page: 9 } } }, about),
    profile: (about: About) => harness.reads.read({ endpoint: Endpoint.PROFILE }, about),
    trends: (about: About) => harness.reads.read({ endpoint: Endpoint.TRENDS }, about),
    aggregations: (about: About) => harness.reads.read({ endpoint: Endpoint.AGGREGATIONS }, about),
  };
  for (const [name, read] of Object.entries(answers)) {
    const one = await read(await asApp('app_one'));
    const other = await read(await asApp('app_two'));
    expect([name, textOf(other)]).toEqual([name, textOf(one)]);
    expect([name, other.etag]).not.toEqual([name, one.etag]);
    const digest = hash('sha256', textOf(one), 'base64url');
    expect([name, one.etag]).not.toEqual([name, `"${digest.slice(0, 27)}"`]);
  }
});

test('hashing what an app knows of an item with the right user id does not give its id, so guesses of the user id cannot be tested', async () => {
  const [{ id }] = (await readAs('app_one', 'readings')).items;
  expect(id).not.toContain(READING);
  const [{ id: symptomId }] = (await readAs('app_one', 'symptoms')).items;
  expect(symptomId).not.toContain(toDigits(toHealthRecordId('ada', 'symptom', 'ehr', 'a')));
});

function withoutId({ id: _, ...shown }: { id: string }) {
  return shown;
}

test('the id of a medication of another app or person is not found, like an unknown one, and the attempt is recorded', async () => {
  const [{ id: foreign }] = (await readAs('app_two', 'medications')).items;
  await fillOneOfEach(harness, 'grace');
  const [{ id: ofAnother }] = (await readAs('app_one', 'medications', 'grace')).items;
  const rowId = toDigits(toHealthRecordId('ada', 'medication', 'ehr', 'a'));
  harness.consent.forget();
  const unknown = '0'.repeat(32);
  const ids = [foreign, ofAnother, `med_${rowId}`, `med_${unknown}`, 'med_', `rdg_${unknown}`, "x' OR 1=1"];
  const about = await asApp('app_one');
  const refusals = await Promise.all(
    ids.map((medicationId) =>
      refusalOf(harness.reads.read({ endpoint: Endpoint.ADHERENCE, medicationId }, about)),
    ),
  );
  expect(new Set(refusals.map(({ reason, message }) => `${reason} ${message}`)).size).toBe(1);
  expect(refusals[0]?.reason).toBe('not_found');
  expect(harness.consent.accesses).toHaveLength(ids.length);
  expect(harness.consent.accesses[0]).toMatchObject({
    userId: 'ada',
    scope: 'read:medications',
    endpoint: '/api/v1/medications/{id}/adherence',
    recordCount: 0,
  });
});

test('a person gets ids of their own in a preview, which no app receives', async () => {
  const session = await harness.sessions.issueSession('ada');
  const { body } = await harness.previews.preview(
    { scope: 'read:health-data:heart' },
    { headers: { [SESSION_METADATA]: session } },
  );
  const { newest } = JSON.parse(new TextDecoder().decode(body)).data;
  const { items } = await readAs('app_one', 'readings');
  expect(newest.map(withoutId)).toEqual(items.map(withoutId));
  expect(newest[0].id).toMatch(/^rdg_[0-9a-f]{32}$/);
  expect(newest[0].id).not.toBe(items[0].id);
  expect(newest[0].id).not.toContain(READING);
});

test('the ids of an app stay the same when the data is deleted and imported again', async () => {
  const userId = 'reimported';
  await fillOneOfEach(harness, userId);
  const read = () => Promise.all(LIST_NAMES.map((name) => readAs('app_one', name, userId)));
  const before = await read();
  await harness.ingestion.eraseUser({ userId });
  expect((await readAs('app_one', 'readings', userId)).items).toEqual([]);
  await fillOneOfEach(harness, userId);
  expect(await read()).toEqual(before);
});

/** A list of the user without the ids. */
async function read(name: ListName, userId: string): Promise<object[]> {
  const { data } = bodyOf(await LISTS[name](harness, await harness.about(userId)));
  return data.map(({ id: _, ...shown }: { id: string }) => shown);
}

// Row ids are hashes of the user id and of data that an app knows, so ordering by them would confirm or refute guesses of the user
// id.
describe('the order of a list does not depend on the user, for', () => {
  test('readings that start at the same time', async () => {
    const sources = ['iphone', 'apple-watch', 'manual', 'ehr', 'csv', 'synthetic', 'oura', 'garmin'];
    const order = async (userId: string) => {
      await harness.putReadings(
        userId,
        sources.flatMap((source) => [
          reading('Heart Rate', START, 60, { source }),
          reading('HRV', START, 40, { source }),
          reading('Weight', START, 60 + source.length, { source }),
        ]),
      );
      return { readings: await read('readings', userId), weights: await read('weight', userId) };
    };
    const orders = await Promise.all(['one', 'two', 'three'].map(order));
    expect(orders[0]?.readings).toHaveLength(2 * sources.length);
    expect(orders).toEqual([orders[0], orders[0], orders[0]]);
  });

  test('records of the same time or day', async () => {
    const letters = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    const order = async (userId: string) => {
      await harness.putHealthRecords(
        userId,
        letters.flatMap((letter) =>
          recordsOf(letter).map((record) => ({ key: letter, source: 'ehr', record })),
        ),
      );
      await harness.putHealthRecords(
        userId,
        letters.map((letter) => ({
          key: `of-a-${letter}`,
          source: 'ehr',
          record: {
            case: 'adherenceEntry' as const,
            value: { medicationKey: 'a', status: 'taken', takenAt: at(START), dose: letter },
          },
        })),
      );
      const names = LIST_NAMES.filter((name) => name !== 'readings' && name !== 'weight');
      return Promise.all(names.map(async (name) => [name, await read(name, userId)] as const));
    };
    const [one, two, three] = [await order('first'), await order('second'), await order('third')];
    expect(two).toEqual(one);
    expect(three).toEqual(one);
    for (const [name, items] of one) {
      expect([name, items.length]).toEqual([name, name === 'adherence' ? 9 : letters.length]);
    }
  });
});

const KEY = Buffer.alloc(32, 1);
const ROW = '0123abcd-4567-89ef-0123-456789abcdef';
const ROWS = [ROW, 'ffffffff-ffff-ffff-ffff-ffffffffffff', '00000000-0000-0000-0000-000000000000'].map(
  (id) => ({ id }),
);

const idOf = (ids: ReturnType<ReturnType<typeof createPublicIds>>, id = ROW) =>
  ids.toPublicIds('med', [{ id }])[0];

describe('the ids of a reader', () => {
  test('depend only on the server key and the reader, and not on the version of the service', () => {
    const ids = createPublicIds(KEY)('app_one');
    expect(ids.toPublicIds('med', [{ id: ROW }])).toEqual(['med_9a3019504445452496e1d4084883de73']);
    expect(ids.toTag('{"data":null}')).toBe('iYWQyHd0JmCvidKFWoOhovvZjik');
  });

  test('are the same in another process, at another position of a page, and on another page', () => {
    const [one, other] = [createPublicIds(KEY)('app_one'), createPublicIds(KEY)('app_one')];
    const page = one.toPublicIds('rdg', ROWS);
    expect(new Set(page).size).toBe(ROWS.length);
    expect(one.toPublicIds('rdg', [])).toEqual([]);
    expect(one.toPublicIds('rdg', ROWS.toReversed())).toEqual(page.toReversed());
    expect(other.toPublicIds('rdg', ROWS)).toEqual(page);
    expect(other.toTag('text')).toBe(one.toTag('text'));
  });

  test('differ for another reader and with another server key', () => {
    const publicIds = createPublicIds(KEY);
    const readers = [publicIds('app_one'), publicIds('app_two'), publicIds('person one'), publicIds('')];
    const all = [...readers, createPublicIds(Buffer.alloc(32, 2))('app_one')];
    expect(new Set([ROW.replaceAll('-', ''), ...all.map((ids) => idOf(ids)?.slice(4))]).size).toBe(6);
    expect(new Set(all.map((ids) => ids.toTag('text'))).size).toBe(5);
  });

  test('are the same even when more readers than the cache size have asked in between', () => {
    const publicIds = createPublicIds(KEY);
    const kept = publicIds('app_one');
    const before = idOf(kept);
    for (let count = 0; count < 1_100; count += 1) publicIds(`app_${count}`);
    expect(publicIds('app_one')).not.toBe(kept);
    expect(idOf(publicIds('app_one'))).toBe(before);
    expect(publicIds('app_one')).toBe(publicIds('app_one'));
  });

  test("lead back to their row only with their own prefix and unchanged; another reader's do not", () => {
    const publicIds = createPublicIds(KEY);
    const ids = publicIds('app_one');
    const [known = ''] = ids.toPublicIds('med', [{ id: ROW }]);
    expect(ids.findRowId('med', known)).toBe(ROW);
    expect(publicIds('app_two').findRowId('med', known)).not.toBe(ROW);
    for (const malformed of [
      '',
      'med_',
      ROW,
      known.toUpperCase(),
      `${known}0`,
      known.slice(0, -1),
      ` ${known}`,
    ]) {
      expect(ids.findRowId('med', malformed)).toBeNull();
    }
    expect(ids.findRowId('adh', known)).toBeNull();
    expect(ids.findRowId('med', known.replace('med', 'sym'))).toBeNull();
  });
});
