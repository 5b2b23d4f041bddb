import { beforeAll, describe, expect, test } from '@jest/globals';
import { SCOPE_NAMES } from '@phds/catalog/scopes';
import { expectStatus, type PartnerApp, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { type Answer, send } from '@phds/running-system/request';
import { type SharedStack, useSharedStack } from '@phds/running-system/shared-stack';
import {
  DATA_ROWS,
  expectMedication,
  LIST_ROWS,
  narrowFilterOf,
  readAll,
  toPath,
} from '../src/data-requests.ts';

let stack: SharedStack;
let app: PartnerApp;
let session: string;
let token: string;
let grantId: string;
let medicationId: string;

beforeAll(async () => {
  stack = await useSharedStack();
  app = await registerApp(stack.gateway, await signIn(stack, 'developer'));
  session = await signIn(stack, 'ada');
  const tokens = await app.connect(session, SCOPE_NAMES);
  token = tokens.accessToken;
  grantId = tokens.grantId;
  medicationId = await expectMedication(app, token);
});

const pathOf = (path: string) => toPath(path, medicationId);
const read = async (path: string, query = '') =>
  expectStatus(200, await app.read(token, pathOf(path) + query));

/** The links of a list as page numbers by relation. */
function pagesOf(answer: Answer, path: string, rest: string): Record<string, number> {
  const links = (answer.headers.get('link') ?? '').split(', ').map((link) => {
    const [, target = '', relation = ''] = /^<([^>]+)>; rel="(\w+)"$/.exec(link) ?? [];
    const prefix = `${path}?${rest}page=`;
    expect(target.slice(0, prefix.length)).toBe(prefix);
    return [relation, Number(target.slice(prefix.length))] as const;
  });
  return Object.fromEntries(links);
}

describe('pages', () => {
  test.each(LIST_ROWS)('%s is split into pages that together make up the whole list', async (path) => {
    const filter = narrowFilterOf(path);
    const whole = await readAll(app, token, pathOf(path), filter);
    const size = Math.max(1, Math.ceil(whole.length / 3));
    const pageSize = Math.min(size, 100);
    const last = Math.ceil(whole.length / pageSize);
    for (const page of new Set([1, Math.min(2, last), last])) {
      const answer = await read(path, `?page=${page}&pageSize=${pageSize}${filter}`);
      const start = (page - 1) * pageSize;
      expect(answer.body).toEqual({
        data: whole.slice(start, start + pageSize),
        pagination: { page, pageSize, total: whole.length, totalPages: last },
      });
      expect(pagesOf(answer, pathOf(path), `pageSize=${pageSize}${filter}&`)).toEqual({
        first: 1,
        ...(page > 1 ? { prev: page - 1 } : {}),
        ...(page < last ? { next: page + 1 } : {}),
        last,
      });
    }
  });

  test.each(LIST_ROWS)('%s returns an empty page with the true total beyond its end', async (path) => {
    const { total } = (await read(path)).body.pagination;
    const answer = await read(path, '?page=2147483647&pageSize=7');
    const totalPages = Math.ceil(total / 7);
    expect(answer.body).toEqual({
      data: [],
      pagination: { page: 2_147_483_647, pageSize: 7, total, totalPages },
    });
    expect(pagesOf(answer, pathOf(path), 'pageSize=7&')).toEqual({
      first: 1,
      prev: totalPages,
      last: totalPages,
    });
  });

  test.each(LIST_ROWS)('%s clamps a pageSize over 100 and reports the clamped value', async (path) => {
    const { data, pagination } = (await read(path, '?pageSize=500')).body;
    const { total } = pagination;
    expect(pagination).toEqual({ page: 1, pageSize: 100, total, totalPages: Math.ceil(total / 100) });
    expect(data).toHaveLength(Math.min(total, 100));
  });

  test("links keep the request's other parameters and can be followed", async () => {
    const path = '/api/v1/health-data/heart';
    const first = await read(path, '?from=2020-01-01T00:00:00+00:00&type=resting-hr&page=1&pageSize=3');
    const next = /<([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
    expect(Object.fromEntries(new URL(next, stack.gateway).searchParams)).toMatchObject({
      type: 'resting-hr',
      page: '2',
      pageSize: '3',
      from: expect.stringMatching(/^2020-01-01T00:00:00[ +]00:00$/),
    });
    const second = expectStatus(200, await app.read(token, next));
    const both = await read(path, '?from=2020-01-01&type=Resting+HR&pageSize=6');
    expect([...first.body.data, ...second.body.data]).toEqual(both.body.data);
  });
});

describe('windows', () => {
  const rows = LIST_ROWS.filter(([, { definition }]) => definition.query.includes('from'));

  test.each(rows.filter(([path]) => path !== '/api/v1/trends'))(
    '%s includes from and excludes to',
    async (path, { definition }) => {
      const timeField = definition.timeField ?? '';
      const filter = narrowFilterOf(path);
      const all = await readAll(app, token, pathOf(path), filter);
      const whole = all.filter((item) => item[timeField] !== null);
      const times = [...new Set<string>(whole.map((item) => item[timeField]))];
      expect(times.length).toBeGreaterThan(1);
      const [to, from] = [times[0], times[Math.min(times.length - 1, 40)]] as [string, string];
      const isInside = (time: string) =>
        toFullTime(time) >= toFullTime(from) && toFullTime(time) < toFullTime(to);
      const wanted = whole.filter((item) => isInside(item[timeField]));
      const query = `${filter}&from=${encodeURIComponent(toFullTime(from))}&to=${encodeURIComponent(toFullTime(to))}`;
      expect(await readAll(app, token, pathOf(path), query)).toEqual(wanted);
    },
  );

  test('a plus sign that arrives as a space means the same instant', async () => {
    const at = (text: string) => read('/api/v1/health-data/heart', `?pageSize=5&to=${text}`);
    const instant = new Date(Date.now() - 86_400_000).toISOString().slice(0, 19);
    const answers = await Promise.all(
      [`${instant}%2B02:00`, `${instant}+02:00`, `${instant}%2b02%3A00`].map(at),
    );
    const [encoded] = answers;
    expect(encoded?.body.data).toHaveLength(5);
    for (const { body } of answers) expect(body).toEqual(encoded?.body);
  });
});

describe('answers as such', () => {
  test.each(DATA_ROWS)('%s sends the standard headers with every response', async (path) => {
    const { headers } = await read(path);
    expect(headers.get('api-version')).toBe('1');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('ratelimit-policy')).toMatch(/^"app-user";q=\d+;w=60$/);
    expect(headers.get('ratelimit')).toMatch(/^"app-user";r=\d+;t=\d+$/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('etag')).toMatch(/^(W\/)?"[^"]+"$/);
    for (const name of ['set-cookie', 'x-powered-by', 'access-control-allow-origin', 'server']) {
      expect(headers.get(name)).toBeNull();
    }
  });

  test.each(DATA_ROWS)(
    '%s answers 304 to a client with the current version, and records that access too',
    async (path) => {
      const { headers } = await read(path);
      const etag = headers.get('etag') ?? '';
      const opaque = etag.replace('W/', '');
      const before = await countAccesses();
      for (const tag of [etag, `W/${opaque}`, `"x", ${opaque}`, '*']) {
        const answer = await app.read(token, pathOf(path), { headers: { 'If-None-Match': tag } });
        expect([tag, answer.status, answer.text]).toEqual([tag, 304, '']);
        expect(answer.headers.get('etag')).toBe(etag);
        expect(answer.headers.get('api-version')).toBe('1');
      }
      expect(await countAccesses()).toBe(before + 4);
      const other = await app.read(token, pathOf(path), { headers: { 'If-None-Match': '"other"' } });
      expect(other.status).toBe(200);
    },
  );

  test('each page has its own entity tag', async () => {
    const tags = await Promise.all(
      ['?page=1', '?page=2', '?page=1&pageSize=21'].map(async (query) =>
        (await read('/api/v1/health-data/heart', query)).headers.get('etag'),
      ),
    );
    expect(new Set(tags).size).toBe(3);
  });

  async function countAccesses(): Promise<number> {
    const url = `${stack.gateway}/partner/consent/grants/${grantId}`;
    return expectStatus(200, await send(url, { bearer: session })).body.data.accessCount;
  }
});

/** The first instant of a time, a date or a partial date. */
function toFullTime(text: string): string {
  if (text.length === 4) return `${text}-01-01`;
  return text.length === 7 ? `${text}-01` : text;
}
