import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { ingest, ingestReadings } from '@phds/running-system/ingestion';
import { expectStatus, type PartnerApp, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { type SharedStack, useSharedStack } from '@phds/running-system/shared-stack';

const USER = 'subject-4711';
const SCOPES = ['read:health-data:heart', 'read:medications', 'read:profile'];
const START = '2026-03-01T08:00:00.000Z';
const PATHS = ['/api/v1/health-data/heart', '/api/v1/medications', '/api/v1/profile'];

interface Connected {
  readonly app: PartnerApp;
  readonly token: string;
  readonly grantId: string;
}

let stack: SharedStack;
let session: string;
let one: Connected;
let two: Connected;

beforeAll(async () => {
  stack = await useSharedStack();
  session = await signIn(stack, USER);
  await importData();
  const developer = await signIn(stack, 'developer');
  [one, two] = [await connect(developer), await connect(developer)];
});

async function connect(developer: string): Promise<Connected> {
  const app = await registerApp(stack.gateway, developer);
  const { accessToken, grantId } = await app.connect(session, SCOPES);
  return { app, token: accessToken, grantId };
}

async function importData(): Promise<void> {
  const at = { start: START, end: START, source: 'apple-watch' };
  await ingestReadings(stack, USER, [
    { type: 'Heart Rate', value: 61, ...at },
    { type: 'HRV', value: 40, ...at },
  ]);
  const records = [
    { source: 'ehr', key: 'a', medication: { name: 'Aspirin' } },
    { source: 'ehr', key: 'b', adherenceEntry: { medicationKey: 'a', status: 'taken', takenAt: START } },
  ];
  const answer = await ingest(stack, 'putHealthRecords', { userId: USER, records });
  expect(answer.result?.refusals).toBeUndefined();
}

/** Reads everything that the app may read through one gateway, doses included: bodies and entity tags. */
async function readEverything({ app, token }: Connected, gateway = stack.gateway) {
  const at = app.at(gateway);
  const [medication] = expectStatus(200, await at.read(token, '/api/v1/medications')).body.data;
  const paths = [...PATHS, `/api/v1/medications/${medication.id}/adherence`];
  const answers = await Promise.all(paths.map((path) => at.read(token, path)));
  return answers.map((answer) => ({
    data: expectStatus(200, answer).body.data,
    etag: answer.headers.get('etag'),
  }));
}

type Everything = Awaited<ReturnType<typeof readEverything>>;

const idsOf = (everything: Everything) =>
  everything.flatMap(({ data }) => (Array.isArray(data) ? data.map(({ id }) => id as string) : []));

describe('ids of data', () => {
  test('differ between apps, like entity tags, while everything else is equal', async () => {
    const [first, second] = [await readEverything(one), await readEverything(two)];
    expect(idsOf(first)).toHaveLength(4);
    expect(new Set([...idsOf(first), ...idsOf(second)].map((id) => id.slice(4))).size).toBe(8);
    expect(new Set([...first, ...second].map(({ etag }) => etag)).size).toBe(8);
    const withoutIds = (everything: Everything) =>
      JSON.stringify(everything.map(({ data }) => data)).replaceAll(/"id":"[^"]+",/g, '');
    expect(withoutIds(second)).toBe(withoutIds(first));
  });

  test('stay the same for an app on every gateway and after a new import', async () => {
    const before = await readEverything(one);
    for (const gateway of stack.gatewayUrls) expect(await readEverything(one, gateway)).toEqual(before);
    await ingest(stack, 'deleteReadings', {
      userId: USER,
      windows: [{ type: 'Heart Rate' }, { type: 'HRV' }],
    });
    await ingest(stack, 'deleteHealthRecords', {
      userId: USER,
      keys: [{ kind: 'HEALTH_RECORD_KIND_MEDICATION', source: 'ehr', key: 'a' }],
    });
    const heart = expectStatus(200, await one.app.read(one.token, '/api/v1/health-data/heart'));
    expect(heart.body.data).toEqual([]);
    await importData();
    expect(await readEverything(one)).toEqual(before);
  });

  test('stay the same for an app that connects again', async () => {
    const before = await readEverything(one);
    const again = await one.app.connect(session, SCOPES);
    expect(await readEverything({ ...one, token: again.accessToken })).toEqual(before);
  });

  // This method once found a subject after 500,001 guesses in four seconds.
  test('cannot confirm a guessed subject: hashing known fields of a reading with the right subject gives none of its ids', async () => {
    const everything = await readEverything(one);
    const [reading] = everything[0]?.data ?? [];
    const time = Date.parse(reading.timestamp);
    const guesses = ['heart-rate', 'hrv'].map((key) => {
      const naturalKey = JSON.stringify(['reading', USER, key, time, time, reading.source]);
      return createHash('sha256').update(naturalKey).digest('hex').slice(0, 32);
    });
    for (const guess of guesses) {
      for (const id of idsOf(everything)) expect(id).not.toContain(guess);
    }
  });

  test("open the doses for the app that received them; another app's id gets the 404 of an unknown id, and that access is recorded", async () => {
    const [foreign] = idsOf([(await readEverything(two))[1] as Everything[number]]);
    const before = await countAccesses();
    const ids = [foreign, `med_${'0'.repeat(32)}`, 'med_none', 'x'];
    const answers = await Promise.all(
      ids.map((id) => one.app.read(one.token, `/api/v1/medications/${id}/adherence`)),
    );
    const bodies = answers.map((answer) => {
      const { requestId: _, ...body } = expectStatus(404, answer).body;
      return body;
    });
    expect(bodies).toEqual(bodies.map(() => bodies[0]));
    expect(await countAccesses()).toBe(before + ids.length);
  });
});

async function countAccesses(): Promise<number> {
  const url = `${stack.gateway}/partner/consent/grants/${one.grantId}`;
  return expectStatus(200, await send(url, { bearer: session })).body.data.accessCount;
}
