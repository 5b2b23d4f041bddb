import { hash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { getMetric } from '@phds/catalog/metrics';
import { Endpoint } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { SESSION_METADATA } from '@phds/service-kit/rpc/context';
import { toHealthRecordId, toReadingId } from '../src/app/row-ids.ts';
import { type About, LIST_NAMES, LISTS, type ListName } from './data-lists.ts';
import { bodyOf, type Harness, refusalOf, startHarness, textOf } from './harness.ts';
import { fillOneOfEach } from './one-of-each.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
  await fillOneOfEach(harness, 'ada');
});
afterAll(async () => harness[Symbol.asyncDispose]());
beforeEach(() => harness.consent.forget());

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

test("another app's id of a medication is not found, like an unknown one, and the attempt is recorded", async () => {
  const [{ id: foreign }] = (await readAs('app_two', 'medications')).items;
  const rowId = toDigits(toHealthRecordId('ada', 'medication', 'ehr', 'a'));
  harness.consent.forget();
  const ids = [foreign, `med_${rowId}`, `med_${'0'.repeat(32)}`, 'med_', `rdg_${'0'.repeat(32)}`];
  const about = await asApp('app_one');
  const refusals = await Promise.all(
    ids.map((medicationId) =>
      refusalOf(harness.reads.read({ endpoint: Endpoint.ADHERENCE, medicationId }, about)),
    ),
  );
  expect(new Set(refusals.map(({ reason, message }) => `${reason} ${message}`)).size).toBe(1);
  expect(refusals[0]?.reason).toBe('not_found');
  expect(harness.consent.accesses).toHaveLength(ids.length);
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
