import { expect, test } from '@jest/globals';
import { ANY_TIME, both, findSpan, findTimeBounds, isWithin } from '@phds/catalog/fhir/dates';
import type { FhirType } from '@phds/catalog/fhir/resource-types';
import { formatScopeList, type Scope } from '@phds/catalog/scopes';
import { Endpoint } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import fc from 'fast-check';
import { BASE, type Resource, readPages, search, toSearch } from './fhir.ts';
import { at, bodyOf, reading, shareHarness } from './harness.ts';

const harness = await shareHarness();
const ZONE = 'Europe/Berlin';
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** So few that most rows start together with others. */
const MOMENTS = [0, 1, 22.5, 24, 25, 47.9, 48, 72, 24 * 40].map(
  (hours) => Date.UTC(2026, 0, 2) + hours * HOUR,
);
const LENGTHS = [0, HOUR, 20 * HOUR];
const TYPES = [
  'Heart Rate',
  'HRV',
  'ECG',
  'Blood Pressure',
  'BP Diastolic',
  'Steps',
  'Sleep',
  'Weight',
  'Glucose',
];
const SOURCES = ['iphone', 'ehr'];

/** The ends of the readings, which the lists of the data API do not have. */
const ends = new Map<string, number>();
const sent = MOMENTS.flatMap((start, moment) =>
  TYPES.flatMap((type, number) =>
    SOURCES.flatMap((source, place) => {
      // The two halves of some blood pressures are missing, or have other ends.
      if ((moment + number + place) % 5 === 0) return [];
      const long = LENGTHS[(moment + (type === 'BP Diastolic' ? (moment % 3) - 1 : 0) + place) % 3] ?? 0;
      ends.set(`${type} ${start} ${source}`, start + long);
      const end = new Date(start + long).toISOString();
      return reading(type, new Date(start).toISOString(), 60 + moment, { source, end });
    }),
  ),
);
await harness.putReadings('ada', sent);
await harness.ingestion.putProfile({ userId: 'ada', timeZone: ZONE, bloodType: 'O+' });
await harness.putHealthRecords('ada', [
  { key: 'm', source: 'ehr', record: { case: 'medication', value: { name: 'm' } } },
  ...['2019', '2026-01', '2026-01-03', '2026-01-03', ''].map((sinceDate, index) => ({
    key: `c${index}`,
    source: 'ehr',
    record: { case: 'condition' as const, value: { name: `c${index}`, sinceDate } },
  })),
  ...[...MOMENTS, ...MOMENTS].flatMap((start, index) => {
    const timestamp = at(new Date(start).toISOString());
    const day = new Date(start).toISOString().slice(0, 10);
    const to = new Date(start + (index % 3) * DAY).toISOString().slice(0, 10);
    const of = (name: string, record: object) => ({ key: `${name}${index}`, source: 'ehr', record }) as never;
    return [
      of('s', { case: 'symptom', value: { description: `s${index}`, timestamp } }),
      of('o', { case: 'moodEntry', value: { mood: 'neutral', note: `o${index}`, timestamp } }),
      of('e', { case: 'ehrRecord', value: { resourceType: 'Goal', summary: `e${index}`, timestamp } }),
      of('r', { case: 'report', value: { from: day, to, generatedAt: timestamp, summary: `r${index}` } }),
      of('v', { case: 'appointment', value: { title: `v${index}`, dateTime: `${day}T10:00:00+14:00` } }),
      of('d', {
        case: 'adherenceEntry',
        value: {
          medicationKey: 'm',
          status: (['taken', 'skipped', 'missed', 'pending'] as const)[index % 4],
          scheduledAt: timestamp,
          takenAt: at(new Date(start + (index % 2) * 2 * HOUR).toISOString()),
          dose: `d${index}`,
        },
      }),
    ];
  }),
]);

/** A row of the data API. */
interface Row {
  readonly scope: Scope;
  readonly name: string;
  /** Equal for the row and its resource. */
  readonly label: string;
  readonly times: { readonly start: number; readonly end: number } | null;
}

type Item = Resource;

/** How the rows of a list are shown, and their times. Names are unique in each list. */
interface List {
  readonly scope: Scope;
  readonly endpoint: Endpoint;
  readonly category?: string;
  readonly toRow: (item: Item) => Omit<Row, 'scope'> | null;
}

const instant = (start: string | number) => ({
  start: new Date(start).getTime(),
  end: new Date(start).getTime(),
});
const partial = (text: string | null) => {
  const span = findSpan(text ?? '');
  return span && { start: span.start, end: span.end - 1 };
};
const toReadingRow = ({ type, value, timestamp, source }: Item) => {
  const start = Date.parse(timestamp);
  const end = ends.get(`${type} ${start} ${source}`) ?? Number.NaN;
  return { name: type, label: `${type} ${value} ${start} ${end} ${source}`, times: { start, end } };
};
const measured = (category: string): List => ({
  scope: `read:health-data:${category}` as Scope,
  endpoint: Endpoint.HEALTH_DATA,
  category,
  toRow: toReadingRow,
});
const named = (
  scope: Scope,
  endpoint: Endpoint,
  field: string,
  timesOf: (item: Item) => Row['times'],
  name = '',
) => ({
  scope,
  endpoint,
  toRow: (item: Item) => ({ name, label: item[field], times: timesOf(item) }),
});
const when = ({ timestamp }: Item) => instant(timestamp);

const LISTS: { readonly [Type in FhirType]?: readonly List[] } = {
  Observation: [
    ...['heart', 'blood-pressure', 'activity', 'sleep', 'glucose', 'body-composition'].map(measured),
    named('read:symptoms', Endpoint.SYMPTOMS, 'description', when, 'Symptom'),
    named('read:mood', Endpoint.MOOD, 'note', when, 'Mood'),
    {
      scope: 'read:weight',
      endpoint: Endpoint.WEIGHT,
      toRow: ({ date, weightKg }) => ({ name: 'Weight', label: `${date} ${weightKg}`, times: partial(date) }),
    },
    named('read:profile', Endpoint.PROFILE, 'bloodType', () => null, 'Blood type'),
  ],
  Condition: [named('read:conditions', Endpoint.CONDITIONS, 'name', ({ sinceDate }) => partial(sinceDate))],
  MedicationAdministration: [
    {
      scope: 'read:medications',
      endpoint: Endpoint.ADHERENCE,
      toRow: ({ status, dose, scheduledAt, takenAt }) =>
        status === 'pending'
          ? null
          : { name: status, label: dose, times: instant(status === 'taken' ? takenAt : scheduledAt) },
    },
  ],
  Appointment: [
    named('read:appointments', Endpoint.APPOINTMENTS, 'title', ({ dateTime }) => instant(dateTime)),
  ],
  DiagnosticReport: [
    named('read:reports', Endpoint.REPORTS, 'summary', ({ dateRange }) => ({
      start: Date.parse(dateRange.from),
      end: Date.parse(dateRange.to) + DAY - 1,
    })),
  ],
  DocumentReference: [named('read:ehr', Endpoint.EHR, 'summary', when)],
};

/** The rows that an app reads by the data API. */
async function readRows(
  { scope, endpoint, category = '', toRow }: List,
  dataFrom: string | null,
): Promise<Row[]> {
  const about = await harness.about('ada', { dataFrom });
  const read = async (request: object) =>
    bodyOf(await harness.reads.read({ endpoint, category, ...request }, about));
  const medicationId =
    endpoint === Endpoint.ADHERENCE
      ? await harness.reads.read({ endpoint: Endpoint.MEDICATIONS }, about)
      : null;
  const more = medicationId === null ? {} : { medicationId: bodyOf(medicationId).data[0].id };
  const { data } = await read(
    endpoint === Endpoint.PROFILE ? {} : { ...more, parameters: { page: { pageSize: 100 } } },
  );
  return [data].flat().flatMap((item: Item) => {
    const row = toRow(item);
    return row === null ? [] : { scope, ...row };
  });
}

/** In place of halves of the same times and source, a blood pressure. */
function pair(rows: readonly Row[]): Row[] {
  const halves = rows.filter(({ name }) => name === 'Blood Pressure' || name === 'BP Diastolic');
  const pairs = Map.groupBy(halves, ({ label }) => label.split(' ').slice(-3).join(' '));
  const panels = [...pairs].map(([key, [one]]) => ({
    ...(one as Row),
    name: 'Blood Pressure',
    label: `Blood Pressure ${key}`,
  }));
  return [...rows.filter((row) => !halves.includes(row)), ...panels];
}

/** The label of a resource, and its time. */
function toLabel(resource: Resource): { label: string; time: number | null } {
  const { code, effectiveDateTime, effectivePeriod, start: begin, date, onsetDateTime, device } = resource;
  const start = effectiveDateTime ?? effectivePeriod?.start ?? begin ?? date ?? onsetDateTime;
  const time = start === undefined ? null : Date.parse(start);
  const end = effectivePeriod === undefined ? time : Date.parse(effectivePeriod.end);
  const measure = resource.component && device ? '' : ` ${resource.valueQuantity?.value}`;
  if (device !== undefined) return { label: `${code.text}${measure} ${time} ${end} ${device.display}`, time };
  const label =
    resource.note?.[0].text ??
    resource.valueString ??
    (resource.valueQuantity && `${effectiveDateTime} ${resource.valueQuantity.value}`) ??
    resource.valueCodeableConcept?.text ??
    resource.conclusion ??
    resource.dosage?.text ??
    resource.description ??
    (resource.content && Buffer.from(resource.content[0].attachment.data, 'base64').toString()) ??
    code.text;
  return { label, time };
}

type Filter = readonly [query: string, matches: (row: Row) => boolean];

const VITAL = new Set(['Heart Rate', 'ECG', 'Blood Pressure', 'Weight']);
const OWN_WEIGHT = `category=${BASE}/CodeSystem/category|weight`;
const FILTERS: { readonly [Type in FhirType]?: readonly Filter[] } = {
  Observation: [
    ['category=vital-signs', ({ name }) => VITAL.has(name)],
    ['code=8867-4,mood', ({ name }) => name === 'Heart Rate' || name === 'Mood'],
    ['code=41653-7', ({ name, label }) => name === 'Glucose' && label.endsWith('iphone')],
    ['combo-code=8462-4', ({ name }) => name === 'Blood Pressure'],
    ['code=29463-7', ({ name }) => name === 'Weight'],
    [OWN_WEIGHT, ({ scope }) => scope === 'read:weight'],
    ['status=amended', () => false],
  ],
  MedicationAdministration: [
    ['status=completed', ({ name }) => name === 'taken'],
    ['status=not-done', ({ name }) => name !== 'taken'],
  ],
};

const DATES: { readonly [Type in FhirType]?: string } = {
  Condition: 'onset-date',
  MedicationAdministration: 'effective-time',
};

const moment = fc.constantFrom(...MOMENTS.flatMap((start) => [start, start + HOUR, start + 20 * HOUR]));
const date = fc
  .tuple(
    fc.constantFrom('', 'eq', 'ge', 'gt', 'le', 'lt', 'sa', 'eb'),
    moment,
    fc.constantFrom(4, 7, 10, 16, 24),
  )
  .map(([prefix, at, length]) => {
    const text = new Date(at).toISOString().slice(0, length);
    return `${prefix}${text}${length === 16 ? 'Z' : ''}`;
  });

const questions = fc
  .constantFrom(...(Object.keys(LISTS) as FhirType[]), 'Observation' as const)
  .chain((type) =>
    fc.record({
      type: fc.constant(type),
      scopes: fc.subarray(
        (LISTS[type] ?? []).map(({ scope }) => scope),
        { minLength: 1 },
      ),
      filter: fc.option(fc.constantFrom<Filter>(...(FILTERS[type] ?? [['', () => true]]))),
      dates: fc.array(date, { maxLength: 2 }),
      dataFrom: fc.option(fc.constantFrom('2026-01-03', '2026-01-04', '2026-02-12'), { freq: 2 }),
      count: fc.constantFrom(1, 2, 5, 50, 200),
    }),
  );

test('a search finds the rows that the data API lists for its scopes, once each, newest first, on full pages', async () => {
  const check = async ({
    type,
    scopes,
    filter,
    dates,
    dataFrom,
    count,
  }: typeof questions extends fc.Arbitrary<infer T> ? T : never) => {
    const lists = (LISTS[type] ?? []).filter(({ scope }) => scopes.includes(scope));
    const rows = (await Promise.all(lists.map((list) => readRows(list, dataFrom)))).flat();
    const bounds = dates.reduce((sum, text) => both(sum, findTimeBounds(text) ?? ANY_TIME), ANY_TIME);
    const [query = '', matches = () => true] = filter ?? [];
    // The weights of days are the same weights once more.
    const isTwice = scopes.includes('read:health-data:body-composition') && query !== OWN_WEIGHT;
    const expected = pair(rows)
      .filter((row) => matches(row) && !(isTwice && row.scope === 'read:weight'))
      .filter(({ times }) => (times === null ? dates.length === 0 : isWithin(times, bounds)));
    const asked = [query, ...dates.map((text) => `${DATES[type] ?? 'date'}=${text}`)].filter(
      (part) => part !== '',
    );
    const token = { scopes, dataFrom };
    harness.consent.forget();
    // The gateway refuses a search that no scope is left to judge by.
    fc.pre(isJudged(type, asked.join('&'), scopes));
    const pages = await readPages(harness, type, [...asked, `_count=${count}`].join('&'), token);
    const found = pages.flat();
    const shown = found.map((resource) => ({ id: resource.id as string, ...toLabel(resource) }));
    expect(shown.map(({ label }) => label).sort()).toEqual(expected.map(({ label }) => label).sort());
    expect(new Set(shown.map(({ id }) => id)).size).toBe(shown.length);
    const newest = [...shown].sort(
      (one, other) => (other.time ?? -1) - (one.time ?? -1) || (one.id < other.id ? -1 : 1),
    );
    expect(shown).toEqual(newest);
    expect(pages.map((page) => page.length)).toEqual(
      pages.map((_, index) => Math.min(count, Math.max(0, expected.length - index * count))),
    );
    const records = harness.consent.accesses.map(({ recordCount, endpoint }) => [recordCount, endpoint]);
    expect(records).toEqual(pages.map((page) => [page.length, `/fhir/R4/${type}`]));
    const { total, entry } = await search(harness, type, [...asked, '_summary=count'].join('&'), token);
    expect([total, entry]).toEqual([expected.length, undefined]);
  };
  await fc.assert(fc.asyncProperty(questions, check), { numRuns: 100 });
}, 120_000);

/** Whether one of the scopes is among those that the search may be judged by. */
function isJudged(type: FhirType, query: string, scopes: readonly Scope[]): boolean {
  const judged = toSearch(type, [...new URLSearchParams(query)]).scopes.filter((scope) =>
    scopes.includes(scope),
  );
  return formatScopeList(judged) !== '';
}
