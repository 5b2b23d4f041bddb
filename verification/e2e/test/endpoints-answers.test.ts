import { beforeAll, describe, expect, test } from '@jest/globals';
import { metricsOfCategory } from '@phds/catalog/metrics';
import { SCOPE_NAMES } from '@phds/catalog/scopes';
import { type PartnerApp, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import type { Answer } from '@phds/running-system/request';
import { type SharedStack, useSharedStack } from '@phds/running-system/shared-stack';
import {
  DATA_ROWS,
  expectMedication,
  LIST_ROWS,
  narrowFilterOf,
  readAll,
  toPath,
} from '../src/data-requests.ts';
import { findFaults, RESOURCE_SHAPES } from '../src/resource-shapes.ts';

type Person = 'ada' | 'grace' | 'sparse' | 'empty';
const PEOPLE: readonly Person[] = ['ada', 'grace', 'sparse', 'empty'];

let stack: SharedStack;
let app: PartnerApp;
const tokens = new Map<Person, string>();
const medications = new Map<Person, string>();

beforeAll(async () => {
  stack = await useSharedStack();
  app = await registerApp(stack.gateway, await signIn(stack, 'developer'));
  for (const person of PEOPLE) {
    const { accessToken } = await app.connect(await signIn(stack, person), SCOPE_NAMES);
    tokens.set(person, accessToken);
  }
  for (const person of ['ada', 'grace'] as const) {
    medications.set(person, await expectMedication(app, tokenOf(person)));
  }
});

const tokenOf = (person: Person): string => tokens.get(person) ?? '';
const pathOf = (person: Person, path: string): string => toPath(path, medications.get(person));
const read = (person: Person, path: string) => app.read(tokenOf(person), pathOf(person, path));

describe('200 for a person with data of every kind', () => {
  test.each(DATA_ROWS)('%s returns exactly the promised fields with valid values', async (path, row) => {
    const { status, headers, body } = await read('ada', path);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    const isList = row.definition.envelope === 'list';
    expect(Object.keys(body)).toEqual(isList ? ['data', 'pagination'] : ['data']);
    const items: unknown[] = isList ? body.data : [body.data];
    expect(items).not.toHaveLength(0);
    for (const item of items) expect(findFaults(item, RESOURCE_SHAPES[row.endpoint])).toEqual([]);
    if (!isList) return;
    const { total } = body.pagination;
    expect(body.pagination).toEqual({ page: 1, pageSize: 20, total, totalPages: Math.ceil(total / 20) });
    expect(items).toHaveLength(Math.min(total, 20));
  });

  test.each(DATA_ROWS.filter(([, row]) => row.category !== null))(
    '%s returns only the metric types of its own category, in their units',
    async (path, { category }) => {
      const metrics = new Map(
        metricsOfCategory(category ?? 'heart').map((metric) => [metric.name as string, metric]),
      );
      const items = await readAll(app, tokenOf('grace'), path);
      expect(new Set(items.map(({ type }) => type))).toEqual(new Set(metrics.keys()));
      const wrong = items.filter(({ type, unit, value }) => {
        const metric = metrics.get(type);
        if (metric === undefined || unit !== metric.unit) return true;
        if (value === null) return !metric.nullable;
        return value < metric.plausible.min || value > metric.plausible.max;
      });
      expect(wrong).toEqual([]);
    },
  );

  test.each(LIST_ROWS)('%s returns every item once, in its documented order', async (path, row) => {
    const items = await readAll(app, tokenOf('ada'), pathOf('ada', path), narrowFilterOf(path));
    const ids = items.map((item) => item.id ?? `${item.type} ${item.start}`);
    expect(new Set(ids).size).toBe(items.length);
    const { timeField } = row.definition;
    if (timeField === null) {
      const names = items.map(({ name }) => name);
      expect(names).toEqual([...names].sort((a, b) => a.localeCompare(b)));
      return;
    }
    const times = items.map((item) => toTime(item[timeField] ?? item.takenAt));
    expect(times).toEqual([...times].sort((a, b) => b - a));
  });
});

describe("200 contains only the person's own data", () => {
  test.each(LIST_ROWS)('%s returns an empty list with 200 for a person without data', async (path) => {
    const { status, body } = await read('empty', path);
    if (path.includes('{id}')) {
      expect([status, body.code]).toEqual([404, 'NOT_FOUND']);
      return;
    }
    expect(status).toBe(200);
    expect(body).toEqual({ data: [], pagination: { page: 1, pageSize: 20, total: 0, totalPages: 0 } });
  });

  test.each(LIST_ROWS.filter(([path]) => path !== '/api/v1/trends'))(
    '%s contains no row of another person',
    async (path) => {
      const [adas, graces] = await Promise.all(
        (['ada', 'grace'] as const).map(async (person) => {
          const items = await readAll(app, tokenOf(person), pathOf(person, path), narrowFilterOf(path));
          return new Set<string>(items.map(({ id }) => id));
        }),
      );
      expect(adas?.size).toBeGreaterThan(0);
      expect(graces?.size).toBeGreaterThan(0);
      expect([...(adas ?? [])].filter((id) => graces?.has(id))).toEqual([]);
    },
  );
});

/** Milliseconds; a partial date means its first day, and null sorts before everything. */
function toTime(value: string | null): number {
  return value === null ? Number.NEGATIVE_INFINITY : Date.parse(value);
}

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
    const whole = await readAll(app, tokenOf('ada'), pathOf('ada', path), filter);
    const size = Math.max(1, Math.ceil(whole.length / 3));
    const pageSize = Math.min(size, 100);
    const last = Math.ceil(whole.length / pageSize);
    for (const page of new Set([1, Math.min(2, last), last])) {
      const answer = await read('ada', `${path}?page=${page}&pageSize=${pageSize}${filter}`);
      const start = (page - 1) * pageSize;
      expect(answer.body).toEqual({
        data: whole.slice(start, start + pageSize),
        pagination: { page, pageSize, total: whole.length, totalPages: last },
      });
      expect(pagesOf(answer, pathOf('ada', path), `pageSize=${pageSize}${filter}&`)).toEqual({
        first: 1,
        ...(page > 1 ? { prev: page - 1 } : {}),
        ...(page < last ? { next: page + 1 } : {}),
        last,
      });
    }
  });
});

describe('windows', () => {
  const rows = LIST_ROWS.filter(([, { definition }]) => definition.query.includes('from'));

  test.each(rows.filter(([path]) => path !== '/api/v1/trends'))(
    '%s includes from and excludes to',
    async (path, { definition }) => {
      const timeField = definition.timeField ?? '';
      const filter = narrowFilterOf(path);
      const all = await readAll(app, tokenOf('ada'), pathOf('ada', path), filter);
      const whole = all.filter((item) => item[timeField] !== null);
      const times = [...new Set<string>(whole.map((item) => item[timeField]))];
      expect(times.length).toBeGreaterThan(1);
      const [to, from] = [times[0], times[Math.min(times.length - 1, 40)]] as [string, string];
      const isInside = (time: string) =>
        toFullTime(time) >= toFullTime(from) && toFullTime(time) < toFullTime(to);
      const wanted = whole.filter((item) => isInside(item[timeField]));
      const query = `${filter}&from=${encodeURIComponent(toFullTime(from))}&to=${encodeURIComponent(toFullTime(to))}`;
      expect(await readAll(app, tokenOf('ada'), pathOf('ada', path), query)).toEqual(wanted);
    },
  );

  test('a plus sign that arrives as a space means the same instant', async () => {
    const at = (text: string) => read('ada', `/api/v1/health-data/heart?pageSize=5&to=${text}`);
    const instant = new Date(Date.now() - 86_400_000).toISOString().slice(0, 19);
    const answers = await Promise.all(
      [`${instant}%2B02:00`, `${instant}+02:00`, `${instant}%2b02%3A00`].map(at),
    );
    const [encoded] = answers;
    expect(encoded?.body.data).toHaveLength(5);
    for (const { body } of answers) expect(body).toEqual(encoded?.body);
  });
});

/** The first instant of a time, a date or a partial date. */
function toFullTime(text: string): string {
  if (text.length === 4) return `${text}-01-01`;
  return text.length === 7 ? `${text}-01` : text;
}
