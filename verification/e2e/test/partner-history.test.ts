import { beforeAll, describe, expect, test } from '@jest/globals';
import { findScope, SCOPE_NAMES } from '@phds/catalog/scopes';
import { expectStatus, type PartnerApp, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { type SharedStack, useSharedStack } from '@phds/running-system/shared-stack';
import { compactVerify, createRemoteJWKSet, decodeProtectedHeader } from 'jose';
import { findFaults, RESOURCE_SHAPES } from '../src/resource-shapes.ts';

const HEART = 'read:health-data:heart';
const MOOD = 'read:mood';
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

let stack: SharedStack;
let app: PartnerApp;
let ada: string;

beforeAll(async () => {
  stack = await useSharedStack();
  app = await registerApp(stack.gateway, await signIn(stack, 'developer'), { name: 'Pulse' });
  ada = await signIn(stack, 'ada');
});

const get = (bearer: string, path: string) => send(`${stack.gateway}/partner/consent${path}`, { bearer });
const list = async (bearer: string, path: string) => expectStatus(200, await get(bearer, path)).body;

describe('receipt', () => {
  test('is a signed JWS that states who, what (in the words shown), for how long and when', async () => {
    const user = await signIn(stack, 'receipt-reader');
    const { grantId } = await app.connect(user, [HEART, MOOD], { expiresInDays: 30 });
    const url = `${stack.gateway}/partner/consent/grants/${grantId}`;
    expectStatus(200, await send(url, { method: 'PATCH', bearer: user, json: { scopes: [HEART] } }));
    expectStatus(200, await send(url, { method: 'DELETE', bearer: user }));

    const { data } = await list(user, `/grants/${grantId}/receipt`);
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

    const { data, pagination } = await list(ada, `/grants/${grantId}/accesses`);
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

  test('can be filtered, and are visible to their user only', async () => {
    const user = await signIn(stack, 'filtered-history');
    const [one, two] = [await registerApp(stack.gateway, user), await registerApp(stack.gateway, user)];
    const first = await one.connect(user, [HEART, MOOD]);
    const second = await two.connect(user, [MOOD]);
    await one.read(first.accessToken, '/api/v1/health-data/heart');
    await one.read(first.accessToken, '/api/v1/mood');
    await two.read(second.accessToken, '/api/v1/mood');
    const totalOf = async (query: string) => (await list(user, `/accesses${query}`)).pagination.total;
    expect(await totalOf('')).toBe(3);
    expect(await totalOf(`?clientId=${one.clientId}`)).toBe(2);
    expect(await totalOf(`?grantId=${second.grantId}`)).toBe(1);
    expect(await totalOf(`?scope=${MOOD}`)).toBe(2);
    expect(await totalOf('?to=2020-01-01')).toBe(0);
    expect((await list(user, '/accesses?pageSize=2&page=2')).data).toHaveLength(1);
    for (const query of ['?scope=read:all', '?from=x', '?user=ada']) {
      const { status, body } = await get(user, `/accesses${query}`);
      expect([status, body.code]).toEqual([400, 'INVALID_REQUEST']);
    }
    expect((await list(await signIn(stack, 'no-history'), '/accesses')).data).toEqual([]);
    expect((await get(ada, `/accesses?grantId=${second.grantId}`)).status).toBe(404);
  });
});

const withoutId = ({ id: _, ...shown }: { id: string }) => shown;

describe('preview', () => {
  test.each(SCOPE_NAMES)('shows the newest data that an app with %s would receive', async (scope) => {
    const { data } = await list(ada, `/preview?scope=${scope}`);
    const more = scope === 'read:medications' ? ['doses'] : [];
    expect(Object.keys(data)).toEqual(['scope', 'total', 'newest', 'trend', ...more]);
    expect(data.scope).toBe(scope);
    expect(data.total).toBeGreaterThan(0);
    expect(data.newest.length).toBe(Math.min(data.total, 5));
    for (const point of data.trend) expect(findFaults(point, RESOURCE_SHAPES.trends)).toEqual([]);
    expect(data.doses?.newest.length).toBe(scope === 'read:medications' ? 5 : undefined);
    const days = new Set(data.trend.map(({ start }: { start: string }) => start.slice(0, 10)));
    expect(days.size).toBeLessThanOrEqual(30);
  });

  test('shows what the app itself would read, with ids that no app receives', async () => {
    const { accessToken } = await app.connect(ada, [HEART]);
    const { data, pagination } = (await app.read(accessToken, '/api/v1/health-data/heart?pageSize=5')).body;
    const preview = (await list(ada, `/preview?scope=${HEART}`)).data;
    expect([preview.total, preview.newest.map(withoutId)]).toEqual([pagination.total, data.map(withoutId)]);
    const ids = [...preview.newest, ...data].map(({ id }: { id: string }) => id);
    expect(new Set(ids).size).toBe(10);
    expect(preview.trend.length).toBeGreaterThan(20);
  });

  test('creates no access record, and is empty without data', async () => {
    const user = await signIn(stack, 'preview-without-data');
    const { data } = await list(user, `/preview?scope=${HEART}`);
    expect(data).toEqual({ scope: HEART, total: 0, newest: [], trend: [] });
    expect((await list(user, '/accesses')).data).toEqual([]);
  });

  test.each(['', '?scope=', '?scope=read:all', `?scope=${HEART}&scope=${MOOD}`, `?scopes=${HEART}`])(
    'refuses %j',
    async (query) => {
      const { status, body } = await get(ada, `/preview${query}`);
      expect([status, body.code]).toEqual([400, 'INVALID_REQUEST']);
    },
  );
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
    const grant = await list(ada, `/grants/${cut.grantId}`);
    expect(grant.data.dataFrom).toBe(dataFrom);
  });
});
