import { beforeAll, describe, expect, test } from '@jest/globals';
import { metricsOfCategory } from '@phds/catalog/metrics';
import { SCOPE_NAMES } from '@phds/catalog/scopes';
import { type PartnerApp, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { type SharedStack, useSharedStack } from '@phds/running-system/shared-stack';
import {
  DATA_ROWS,
  expectMedication,
  LIST_ROWS,
  NO_MEDICATION,
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

  test('as-needed doses have no schedule and are counted by the time of intake', async () => {
    const { data } = (await read('ada', '/api/v1/medications')).body;
    const asNeeded = data.find(({ pattern }: { pattern: string }) => pattern === 'PRN');
    const doses = await readAll(app, tokenOf('ada'), `/api/v1/medications/${asNeeded.id}/adherence`);
    expect(doses).not.toHaveLength(0);
    for (const dose of doses) expect(dose).toMatchObject({ scheduledAt: null, status: 'taken' });
    const times = doses.map(({ takenAt }) => toTime(takenAt));
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

  test('profile and aggregations of a person without data have every field', async () => {
    expect((await read('empty', '/api/v1/profile')).body).toEqual({
      data: { name: null, gender: null, dateOfBirth: null, bloodType: null },
    });
    const { data } = (await read('empty', '/api/v1/aggregations')).body;
    expect(findFaults(data, RESOURCE_SHAPES.aggregations)).toEqual([]);
    expect(data.metrics).toEqual([]);
  });

  test('a person with little data gets exactly that', async () => {
    const totals = await Promise.all(
      LIST_ROWS.filter(([path]) => !path.includes('{id}')).map(async ([path]) => {
        const { body } = await read('sparse', path);
        return [path.slice('/api/v1/'.length), body.pagination.total] as const;
      }),
    );
    expect(Object.fromEntries(totals.filter(([, total]) => total > 0))).toEqual({
      'health-data/heart': 3,
      'health-data/body-composition': 2,
      trends: 5,
      conditions: 1,
      weight: 2,
    });
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

  test("the adherence of another person's medication and of an unknown one get the same 404", async () => {
    const answers = await Promise.all(
      [medications.get('ada') ?? '', NO_MEDICATION, 'x', 'a%2Fb', 'm%20%C3%A4', 'm'.repeat(2_000)].map((id) =>
        app.read(tokenOf('grace'), `/api/v1/medications/${id}/adherence`),
      ),
    );
    const seen = answers.map(({ status, body, headers }) => ({
      status,
      ...body,
      requestId: typeof body.requestId,
      headers: [...headers.keys()],
    }));
    expect(seen[0]).toMatchObject({ status: 404, code: 'NOT_FOUND', requestId: 'string' });
    for (const each of seen) expect(each).toEqual(seen[0]);
  });
});

/** Milliseconds; a partial date means its first day, and null sorts before everything. */
function toTime(value: string | null): number {
  return value === null ? Number.NEGATIVE_INFINITY : Date.parse(value);
}
