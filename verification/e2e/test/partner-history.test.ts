import { beforeAll, describe, expect, test } from '@jest/globals';
import { findScope, SCOPE_NAMES } from '@phds/catalog/scopes';
import { expectStatus, type PartnerApp, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { type SharedStack, useSharedStack } from '@phds/running-system/shared-stack';
import { compactVerify, createRemoteJWKSet, decodeJwt, decodeProtectedHeader } from 'jose';

const HEART = 'read:health-data:heart';
const MOOD = 'read:mood';
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

const DIARY = {
  name: 'Diabetes Diary',
  description: 'Keeps a diary of your glucose.',
  developerName: 'Diary GmbH',
  homepageUrl: 'https://diary.example/',
  privacyPolicyUrl: 'https://diary.example/privacy',
};
const BROKER = {
  name: 'Data Broker',
  description: 'Finds buyers for your data.',
  developerName: 'Broker Ltd',
  homepageUrl: 'https://broker.example/',
  privacyPolicyUrl: 'https://broker.example/terms',
};
/** The party named on a receipt. */
const partyOf = ({ name, description, developerName, homepageUrl, privacyPolicyUrl }: typeof DIARY) => ({
  party_name: name,
  party_developer: developerName,
  party_description: description,
  party_url: homepageUrl,
  privacy_notice: privacyPolicyUrl,
});

let stack: SharedStack;
let developer: string;
let app: PartnerApp;
let ada: string;

beforeAll(async () => {
  stack = await useSharedStack();
  developer = await signIn(stack, 'developer');
  app = await registerApp(stack.gateway, developer, { name: 'Pulse' });
  ada = await signIn(stack, 'ada');
});

let people = 0;
function somebody(): Promise<string> {
  people += 1;
  return signIn(stack, `partner-receipts-${people}`);
}

const registerDiary = () => registerApp(stack.gateway, developer, DIARY);

async function change(app: PartnerApp, profile: Partial<typeof DIARY>): Promise<void> {
  const url = `${stack.gateway}/developer/apps/${app.clientId}`;
  expectStatus(200, await send(url, { method: 'PATCH', bearer: developer, json: profile }));
}

const get = async (bearer: string, path: string) =>
  expectStatus(200, await send(`${stack.gateway}/partner/consent${path}`, { bearer })).body;

/** Approves everything and returns the id of the grant. */
async function approve(bearer: string, pendingId: string): Promise<string> {
  const url = `${stack.gateway}/partner/consent/pending/${pendingId}/approve`;
  return expectStatus(200, await send(url, { bearer, json: {} })).body.data.grantId;
}

interface Receipt {
  readonly privacy_notice: string;
  readonly party_identification: readonly Record<string, unknown>[];
  readonly purposes: readonly Record<string, unknown>[];
}

async function receiptOf(user: string, grantId: string): Promise<Receipt> {
  return decodeJwt<Receipt>((await get(user, `/grants/${grantId}/receipt`)).data.receipt);
}

describe('receipt', () => {
  test('is a signed JWS that states who, what (in the words shown), for how long and when', async () => {
    const user = await signIn(stack, 'receipt-reader');
    const { grantId } = await app.connect(user, [HEART, MOOD], { expiresInDays: 30 });
    const url = `${stack.gateway}/partner/consent/grants/${grantId}`;
    expectStatus(200, await send(url, { method: 'PATCH', bearer: user, json: { scopes: [HEART] } }));
    expectStatus(200, await send(url, { method: 'DELETE', bearer: user }));

    const { data } = await get(user, `/grants/${grantId}/receipt`);
    expect(Object.keys(data)).toEqual(['grantId', 'receipt']);
    const header = decodeProtectedHeader(data.receipt);
    expect(header.alg).toBe('EdDSA');
    const keys = createRemoteJWKSet(new URL(`${stack.gateway}/.well-known/jwks.json`));
    const { payload } = await compactVerify(data.receipt, keys, { algorithms: ['EdDSA'] });
    const receipt = JSON.parse(new TextDecoder().decode(payload));
    expect(receipt).toMatchObject({
      record_id: grantId,
      pii_principal_id: 'receipt-reader',
      party_identification: [{ party_id: app.clientId, party_name: 'Pulse' }],
    });
    expect(receipt.purposes[0].pii_information).toEqual(
      [HEART, MOOD].map((scope) => ({
        pii_type: scope,
        pii_title: findScope(scope)?.title,
        pii_description: findScope(scope)?.description,
      })),
    );
    const events = receipt.events.map((event: Record<string, unknown>) => [
      event['event_state'],
      event['pii_types'],
    ]);
    expect(events).toEqual([
      ['given', [HEART, MOOD]],
      ['narrowed', [HEART]],
      ['withdrawn', []],
    ]);
    expect(receipt.events[0].validity_duration).toBe(`PT${30 * 86_400}S`);
  });
});

describe('accesses', () => {
  test('list each response that was based on the data, 304, empty and 404 included, without values', async () => {
    const own = await registerApp(stack.gateway, await signIn(stack, 'developer'), { name: 'Reader' });
    const { accessToken, grantId } = await own.connect(ada, [HEART, 'read:medications']);
    const path = '/api/v1/health-data/heart?from=2026-01-01&pageSize=3';
    const first = await own.read(accessToken, path);
    await own.read(accessToken, path, { headers: { 'If-None-Match': first.headers.get('etag') ?? '' } });
    await own.read(accessToken, '/api/v1/health-data/heart?page=99999');
    await own.read(accessToken, '/api/v1/medications/med_none/adherence');
    // No data was accessed for these.
    await own.read(accessToken, '/api/v1/mood');
    await own.read(accessToken, '/api/v1/health-data/heart?page=0');

    const { data, pagination } = await get(ada, `/grants/${grantId}/accesses`);
    expect(pagination).toEqual({ page: 1, pageSize: 20, total: 4, totalPages: 1 });
    const common = {
      id: expect.stringMatching(/^[a-z]+_\w+$/),
      at: expect.stringMatching(INSTANT),
      app: { clientId: own.clientId, name: 'Reader' },
      grantId,
      outcome: 'released',
      reason: null,
    };
    const heart = { ...common, scope: HEART, endpoint: expect.stringContaining('health-data') };
    expect(data).toEqual([
      {
        ...common,
        scope: 'read:medications',
        endpoint: expect.any(String),
        from: null,
        to: null,
        recordCount: 0,
      },
      { ...heart, from: null, to: null, recordCount: 0 },
      { ...heart, from: expect.stringContaining('2026-01-01'), to: null, recordCount: 3 },
      { ...heart, from: expect.stringContaining('2026-01-01'), to: null, recordCount: 3 },
    ]);
    const times = data.map(({ at }: { at: string }) => Date.parse(at));
    expect(times).toEqual([...times].sort((a, b) => b - a));
  });
});

const withoutId = ({ id: _, ...shown }: { id: string }) => shown;

describe('preview', () => {
  test('shows what the app itself would read, with ids that no app receives', async () => {
    const { accessToken } = await app.connect(ada, [HEART]);
    const { data, pagination } = (await app.read(accessToken, '/api/v1/health-data/heart?pageSize=5')).body;
    const preview = (await get(ada, `/preview?scope=${HEART}`)).data;
    expect([preview.total, preview.newest.map(withoutId)]).toEqual([pagination.total, data.map(withoutId)]);
    const ids = [...preview.newest, ...data].map(({ id }: { id: string }) => id);
    expect(new Set(ids).size).toBe(10);
    expect(preview.trend.length).toBeGreaterThan(20);
  });
});

describe('dataFrom', () => {
  test('hides everything before it: readings, records, totals and summaries', async () => {
    const own = await registerApp(stack.gateway, await signIn(stack, 'developer'));
    const dataFrom = new Date(Date.now() - 7 * 86_400_000).toISOString().slice(0, 10);
    const whole = await app.connect(ada, SCOPE_NAMES);
    const cut = await own.connect(ada, SCOPE_NAMES, { dataFrom });
    // Midnight in Berlin is one or two hours before midnight in UTC.
    const earliest = Date.parse(dataFrom) - 2 * 3_600_000;
    for (const path of ['health-data/heart', 'mood', 'weight', 'trends', 'ehr', 'reports', 'symptoms']) {
      const all = (await app.read(whole.accessToken, `/api/v1/${path}`)).body.pagination.total;
      const { data, pagination } = (await own.read(cut.accessToken, `/api/v1/${path}?pageSize=100`)).body;
      expect([path, pagination.total < all]).toEqual([path, true]);
      for (const item of data) {
        const time = item.timestamp ?? item.date ?? item.start ?? item.generatedAt;
        expect(Date.parse(time)).toBeGreaterThanOrEqual(earliest);
      }
    }
    const count = async (reader: PartnerApp, token: string) => {
      const { body } = await reader.read(token, '/api/v1/aggregations?type=heart-rate');
      return body.data.metrics[0].count;
    };
    expect(await count(own, cut.accessToken)).toBeLessThan(await count(app, whole.accessToken));
    const grant = await get(ada, `/grants/${cut.grantId}`);
    expect(grant.data.dataFrom).toBe(dataFrom);
  });
});

describe('an app that changes its name and links after a consent', () => {
  test('has on the receipt, for each decision, the name shown at that decision', async () => {
    const [app, user] = [await registerDiary(), await somebody()];
    const { grantId } = await app.connect(user, [HEART]);
    await change(app, BROKER);
    expect((await app.connect(user, [MOOD])).grantId).toBe(grantId);
    const receipt = await receiptOf(user, grantId);
    expect(receipt.purposes).toMatchObject([{ recipient: partyOf(DIARY) }, { recipient: partyOf(BROKER) }]);
    expect(receipt.party_identification).toMatchObject([{ party_name: BROKER.name }]);
    expect((await get(user, `/grants/${grantId}`)).data.app.name).toBe(BROKER.name);
  });

  test('appears in the access history, by day and in the file, under the approved name', async () => {
    const [app, user] = [await registerDiary(), await somebody()];
    const { accessToken } = await app.connect(user, [HEART]);
    await app.read(accessToken, '/api/v1/health-data/heart');
    const { clientId } = app;
    const shown = async () => [
      (await get(user, '/accesses')).data[0].app,
      (await get(user, '/accesses/summary')).data[0].app,
    ];
    expect(await shown()).toEqual(Array(2).fill({ clientId, name: DIARY.name }));
    await change(app, BROKER);
    const both = { clientId, name: DIARY.name, currentName: BROKER.name };
    expect(await shown()).toEqual(Array(2).fill(both));
    const { text } = await send(`${stack.gateway}/partner/consent/accesses.csv`, { bearer: user });
    expect(text).toContain(`,${DIARY.name},`);
    expect(text).not.toContain(BROKER.name);
  });
});

describe('an app that changes its name while a person reads the approval screen', () => {
  test('keeps its earlier name on the screen, the grant and the receipt', async () => {
    const [app, user] = [await registerDiary(), await somebody()];
    const { pending_id: id } = expectStatus(201, await app.authorize([HEART])).body;
    const opened = (await get(user, `/pending/${id}`)).data;
    await change(app, BROKER);
    expect((await get(user, `/pending/${id}`)).data).toEqual(opened);
    expect((await get(user, '/pending')).data).toEqual([opened]);
    const grantId = await approve(user, id);
    const receipt = await receiptOf(user, grantId);
    expect(receipt.purposes).toMatchObject([{ recipient: partyOf(DIARY) }]);
    expect(receipt.party_identification).toMatchObject([{ party_name: DIARY.name }]);
    const { data } = await get(user, `/grants/${grantId}`);
    expect(data.app).toMatchObject({ name: DIARY.name, currentName: BROKER.name });
    expect(data.appChanges).toHaveLength(5);
  });
});
