import { beforeAll, describe, expect, test } from '@jest/globals';
import { metricsOfCategory } from '@phds/catalog/metrics';
import { SCOPE_NAMES } from '@phds/catalog/scopes';
import { type PartnerApp, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { type SharedStack, useSharedStack } from '@phds/running-system/shared-stack';
import { DATA_ROWS, expectMedication, LIST_ROWS, toPath } from '../src/data-requests.ts';

let stack: SharedStack;
let app: PartnerApp;
let token: string;
let medicationId: string;

beforeAll(async () => {
  stack = await useSharedStack();
  app = await registerApp(stack.gateway, await signIn(stack, 'developer'));
  token = (await app.connect(await signIn(stack, 'ada'), SCOPE_NAMES)).accessToken;
  medicationId = await expectMedication(app, token);
});

const read = (path: string, query: string) => app.read(token, `${toPath(path, medicationId)}?${query}`);

/** Expects the query to be refused with exactly these parameters named. */
async function expectRefusal(path: string, query: string, parameters: readonly string[]) {
  const { status, body } = await read(path, query);
  const blamed = body.errors?.map(({ parameter }: { parameter: string }) => parameter);
  expect([query, status, body.code, blamed]).toEqual([query, 400, 'INVALID_REQUEST', parameters]);
  for (const { message } of body.errors) expect(message).toEqual(expect.any(String));
  return body.errors;
}

describe('400', () => {
  test.each(LIST_ROWS)('%s accepts whole numbers from 1 as page and pageSize, once each', async (path) => {
    const bad = ['0', '-1', '1.5', '', 'abc', '1e1', '0x1', '%201', '+1', '99999999999', 'NaN', '１'];
    for (const name of ['page', 'pageSize']) {
      for (const value of bad) await expectRefusal(path, `${name}=${value}`, [name]);
      await expectRefusal(path, `${name}=1&${name}=2`, [name]);
      await expectRefusal(path, name, [name]);
    }
    await expectRefusal(path, 'page=0&pageSize=0', ['page', 'pageSize']);
  });

  test.each(DATA_ROWS)('%s refuses unknown parameters', async (path, { definition }) => {
    await expectRefusal(path, 'nothing=1', ['nothing']);
    await expectRefusal(path, '__proto__=1', ['__proto__']);
    for (const name of definition.query) {
      const typo = name.slice(0, -2) + name.slice(-1) + name.slice(-2, -1);
      const [error] = await expectRefusal(path, `${typo}=1`, [typo]);
      expect(error.message).toContain(`did you mean "${name}"?`);
    }
    if (definition.envelope === 'object') await expectRefusal(path, 'page=1', ['page']);
    if (definition.timeField === null) await expectRefusal(path, 'from=2026-01-01', ['from']);
    if (!definition.query.includes('type')) await expectRefusal(path, 'type=Steps', ['type']);
  });

  test.each(DATA_ROWS)('%s refuses a bad percent escape', async (path, { definition }) => {
    for (const query of ['%zz=1', '%=1', '%E0%A4=1']) {
      expect((await expectRefusal(path, query, ['query']))[0].message).toContain('percent');
    }
    for (const name of definition.query) await expectRefusal(path, `${name}=%E0%A4`, [name]);
  });

  test.each(DATA_ROWS.filter(([, { definition }]) => definition.query.includes('from')))(
    '%s accepts a non-empty window of dates or instants',
    async (path) => {
      const bad = ['yesterday', '2026-02-30', '2026-13-01', '2026-1-1', '20260101', '1767225600', ''];
      const badTimes = ['2026-01-01T00:00:00', '2026-01-01T24:00:00Z', '2026-01-01 00:00:00Z'];
      for (const text of [...bad, ...badTimes]) {
        await expectRefusal(path, `from=${encodeURIComponent(text)}`, ['from']);
        await expectRefusal(path, `to=${encodeURIComponent(text)}`, ['to']);
      }
      await expectRefusal(path, 'from=2026-03-01&to=2026-03-01', ['from']);
      await expectRefusal(path, 'from=2026-03-02&to=2026-03-01', ['from']);
      await expectRefusal(path, 'from=2026-03-01T10:00:00Z&to=2026-03-01T11:00:00%2B02:00', ['from']);
      await expectRefusal(path, 'from=2026-03-01&from=2026-03-02', ['from']);
      expect((await read(path, 'from=2020-01-01&to=2030-01-01T00:00:00Z')).status).toBe(200);
    },
  );

  test.each(DATA_ROWS.filter(([, { category }]) => category !== null))(
    '%s accepts the types of its own category in any spelling',
    async (path, { category }) => {
      const stranger = category === 'glucose' ? 'Steps' : 'Glucose';
      await expectRefusal(path, `type=${stranger}`, ['type']);
      await expectRefusal(path, 'type=', ['type']);
      for (const { name } of metricsOfCategory(category ?? 'heart')) {
        for (const text of [name, name.toLowerCase().replaceAll(' ', '-'), name.replaceAll(' ', '_')]) {
          const { status, body } = await read(path, `type=${encodeURIComponent(text)}`);
          expect(status).toBe(200);
          expect(new Set(body.data.map(({ type }: { type: string }) => type))).toEqual(new Set([name]));
        }
      }
    },
  );

  test('aggregations and trends require a known type, zone and bucket', async () => {
    for (const path of ['/api/v1/aggregations', '/api/v1/trends']) {
      await expectRefusal(path, 'type=Pulse', ['type']);
      for (const zone of ['Mars/Olympus', '', '%2B02:00', 'Europe/../Berlin']) {
        await expectRefusal(path, `timeZone=${zone}`, ['timeZone']);
      }
    }
    for (const bucket of ['week', '', 'Day']) {
      await expectRefusal('/api/v1/trends', `bucket=${bucket}`, ['bucket']);
    }
    await expectRefusal('/api/v1/aggregations', 'bucket=day', ['bucket']);
  });

  test('a medication id with a bad percent escape is an invalid request, not an unknown id', async () => {
    const { status, body } = await app.read(token, '/api/v1/medications/%zz/adherence');
    expect([status, body.code, body.errors[0].parameter]).toEqual([400, 'INVALID_REQUEST', 'id']);
  });
});
