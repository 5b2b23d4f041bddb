import { type EndpointScope, scopeOfCategory } from '@phds/catalog/endpoints';
import { ANY_TIME, both, findSpan, isWithin, type TimeBounds } from '@phds/catalog/fhir/dates';
import { EHR_SOURCE, hasLoinc } from '@phds/catalog/fhir/observation-kinds';
import type { FhirType } from '@phds/catalog/fhir/resource-types';
import { type FhirSearch, kindsToRead, prefixOf, type SelectedKind } from '@phds/catalog/fhir/search';
import { localDate } from '@phds/catalog/local-time';
import { getMetric, type MetricKey, metricsOfCategory } from '@phds/catalog/metrics';
import { addDays, midnightUtc } from '../dates.ts';
import { findOwnWindow, findSince, UNKNOWN_PERSON } from '../profiles.ts';
import type { IdPrefix, ReaderIds } from '../public-ids.ts';
import type { HealthRecordKind } from '../record-kinds.ts';
import type { Found } from '../records.ts';
import type { DataParts } from '../resources.ts';
import { toReadingId } from '../row-ids.ts';
import type { WeightEntry } from '../weights.ts';
import { findRowId, findStart, toFhirIds, toTimedIds } from './ids.ts';
import { createObservationTexts, type Halves, type Identity, type ObservationTexts } from './observations.ts';
import { BLOOD_PRESSURE, type ReadingSpan, type ReadingSpanQuery } from './reading-spans.ts';
import * as resources from './resources.ts';

/** The order of search results: newest first by start, without a time last; then by id. */
export interface Place {
  /** Unix milliseconds; null for a resource without a time. */
  readonly time: number | null;
  readonly id: string;
}

/** A search or a read of one person's data for one app. */
export interface FhirRead {
  readonly search: FhirSearch;
  /** What it is judged by. */
  readonly scopes: readonly EndpointScope[];
  readonly base: string;
  readonly ids: ReaderIds;
  readonly userId: string;
  /** The person as this app knows them, and the id of the Patient. */
  readonly sub: string;
  readonly patientId: string;
  /** First day that the app may see (YYYY-MM-DD); null for no limit. */
  readonly dataFrom: string | null;
}

/** A resource that was found. */
export interface Entry extends Place {
  readonly scope: EndpointScope;
  readonly toText: () => string;
}

/** One of the lists that a search merges. */
export interface Source {
  /** Whether it has only resources with a time. */
  readonly isDated: boolean;
  /** The newest, in no order: at least `limit` if there are, and all that start together with the last one. */
  readonly read: (when: TimeBounds, limit: number) => Promise<readonly Entry[]>;
  /** The number of all matches, null for too many; absent where reading them is as cheap. */
  readonly count?: () => Promise<number | null>;
}

/** The lists that a search reads for its scopes. */
export function openSources(data: DataParts, request: FhirRead): Source[] {
  const { search, scopes } = request;
  if (search.type === 'Patient') return [patient(data, request)];
  if (search.type !== 'Observation') return [records(data, request, RECORDS[search.type])];
  const texts = textsFor(request.base);
  const kinds = kindsToRead(search, scopes).filter(
    (kind) => search.ids === null || search.ids.some((id) => id.startsWith(`${prefixOf(kind)}-`)),
  );
  const measured = kinds.filter((kind) => prefixOf(kind) === 'rdg');
  const sources = kinds.flatMap(({ key }) => {
    if (key === 'daily-weight') return weights(data, request, texts);
    if (key === 'symptom') return records(data, request, symptoms(texts));
    if (key === 'mood') return records(data, request, moods(texts));
    return key === 'blood-type' ? bloodType(data, request, texts) : [];
  });
  return measured.length === 0 ? sources : [readings(data, request, measured, texts), ...sources];
}

let lastTexts: { readonly base: string; readonly texts: ObservationTexts } | undefined;

/** A service has one address. */
function textsFor(base: string): ObservationTexts {
  if (lastTexts?.base !== base) lastTexts = { base, texts: createObservationTexts(base) };
  return lastTexts.texts;
}

/** For reads of all that a few ids name. */
const NO_LIMIT = 2 ** 31 - 1;

function readings(
  data: DataParts,
  request: FhirRead,
  kinds: readonly SelectedKind[],
  texts: ObservationTexts,
): Source {
  const { search, ids, userId } = request;
  const isPaired = kinds.some(({ key }) => key === 'blood-pressure');
  const toQuery = async (when: TimeBounds): Promise<ReadingSpanQuery> => ({
    userId,
    ...toSubjects(kinds),
    starts: search.ids?.flatMap((id) => findStart(ids, 'rdg', id) ?? []) ?? null,
    when: notBefore(when, await findSince(data.profiles, request)),
  });
  return {
    isDated: true,
    read: async (when, limit) => {
      // Half of the readings may be halves of a blood pressure.
      const size = search.ids === null ? limit * (isPaired ? 2 : 1) : NO_LIMIT;
      const rows = await data.readingSpans.listNewest({ ...(await toQuery(when)), limit: size });
      const found = isPaired ? pair(userId, rows) : rows.map((row) => ({ row, halves: null }));
      const fhirIds = toTimedIds(
        ids,
        'rdg',
        found.map(({ row }) => row),
      );
      return found.map(({ row, halves }, index) => {
        const identity = { id: fhirIds[index] ?? '', patientId: request.patientId };
        return {
          id: identity.id,
          time: Date.parse(row.timestamp),
          scope: scopeOfCategory(getMetric(row.metric).category),
          toText: () =>
            halves === null ? texts.ofReading(identity, row) : texts.ofBloodPressure(identity, halves),
        };
      });
    },
    count: async () => data.readingSpans.count(await toQuery(search.when)),
  };
}

/** Whole categories, unless a search wants some types of one, or leaves out a source. */
function toSubjects(kinds: readonly SelectedKind[]): Pick<ReadingSpanQuery, 'by' | 'subjects'> {
  const types = kinds.flatMap((kind) => {
    const avoidedSource = kind.byLoinc && !hasLoinc(kind.key, EHR_SOURCE) ? EHR_SOURCE : null;
    const metrics = kind.key === 'blood-pressure' ? BLOOD_PRESSURE : [kind.key as MetricKey];
    return metrics.map((key) => ({ key, avoidedSource, category: getMetric(key).category }));
  });
  const byCategory = Map.groupBy(types, ({ category }) => category);
  const areWhole = [...byCategory].every(
    ([category, some]) => some.length === metricsOfCategory(category).length,
  );
  if (!areWhole || types.some(({ avoidedSource }) => avoidedSource !== null))
    return { by: 'type', subjects: types.map(({ key, avoidedSource }) => ({ key, avoidedSource })) };
  return { by: 'category', subjects: [...byCategory.keys()].map((key) => ({ key, avoidedSource: null })) };
}

/** The readings, and in place of those of blood pressures, the pairs of the same times and source. */
function pair(
  userId: string,
  rows: readonly ReadingSpan[],
): { readonly row: ReadingSpan; readonly halves: Halves | null }[] {
  const pairs = new Map<string, { [Type in (typeof BLOOD_PRESSURE)[number]]?: ReadingSpan }>();
  const others: { row: ReadingSpan; halves: null }[] = [];
  for (const row of rows) {
    if (row.metric !== 'blood-pressure' && row.metric !== 'bp-diastolic') {
      others.push({ row, halves: null });
      continue;
    }
    const key = `${row.timestamp} ${row.endTimestamp} ${row.source}`;
    const known = pairs.get(key) ?? {};
    known[row.metric] = row;
    pairs.set(key, known);
  }
  const found = [...pairs.values()].flatMap((halves) => {
    const { 'blood-pressure': systolic, 'bp-diastolic': diastolic } = halves;
    const row = systolic ?? (diastolic && { ...diastolic, id: toSystolicId(userId, diastolic) });
    return row === undefined ? [] : [{ row, halves }];
  });
  return [...others, ...found];
}

/** The row id of the other half, so that the id of a blood pressure stays the same when that half arrives. */
function toSystolicId(userId: string, { timestamp, endTimestamp, source }: ReadingSpan): string {
  const startAt = new Date(timestamp);
  const endAt = endTimestamp === null ? startAt : new Date(endTimestamp);
  return toReadingId(userId, { metric: getMetric('blood-pressure'), startAt, endAt, source });
}

function notBefore(when: TimeBounds, since: Date | null): TimeBounds {
  return since === null ? when : both(when, { ...ANY_TIME, startFrom: since.getTime() });
}

const DAY_MS = 86_400_000;

/** A weight is that of a day, which for searches is one of UTC. */
function weights(data: DataParts, request: FhirRead, texts: ObservationTexts): Source {
  const { search, ids, userId } = request;
  const list = async (dates: { from: Date | null; to: Date | null }, limit: number) => {
    const window = await findOwnWindow(data.profiles, request);
    return data.weights.list({ userId, ...window, dates, limit, offset: 0 });
  };
  const listNamed = async (wanted: readonly string[]) => {
    const { timeZone } = await findOwnWindow(data.profiles, request);
    const days = wanted.flatMap((id) => {
      const start = findStart(ids, 'wgt', id);
      return start === null ? [] : localDate(new Date(start), timeZone);
    });
    const entries: WeightEntry[] = [];
    for (const day of new Set(days)) {
      const { items } = await list({ from: midnightUtc(day), to: midnightUtc(addDays(day, 1)) }, 1);
      entries.push(...items);
    }
    return entries;
  };
  return {
    isDated: true,
    read: async (when, limit) => {
      const found = search.ids ? await listNamed(search.ids) : (await list(toDays(when), limit)).items;
      const items = found.filter(({ date }) => isWithin(dayOf(date), when));
      const fhirIds = toTimedIds(ids, 'wgt', items);
      return items.map((entry, index) => {
        const identity = { id: fhirIds[index] ?? '', patientId: request.patientId };
        return {
          id: identity.id,
          time: dayOf(entry.date).start,
          scope: 'read:weight',
          toText: () => texts.ofWeight(identity, entry),
        };
      });
    },
    count: async () => (await list(toDays(search.when), 1)).total,
  };
}

function dayOf(date: string) {
  const start = midnightUtc(date).getTime();
  return { start, end: start + DAY_MS - 1 };
}

/** The days that are in the bounds. */
function toDays({ startFrom, startBefore, endFrom, endBefore }: TimeBounds) {
  const toStart = (end: number | null) => (end === null ? null : end - DAY_MS + 1);
  const ofEnds = { ...ANY_TIME, startFrom: toStart(endFrom), startBefore: toStart(endBefore) };
  const starts = both({ ...ANY_TIME, startFrom, startBefore }, ofEnds);
  return { from: toNextMidnight(starts.startFrom), to: toNextMidnight(starts.startBefore) };
}

function toNextMidnight(time: number | null): Date | null {
  return time === null ? null : new Date(Math.ceil(time / DAY_MS) * DAY_MS);
}

/** A kind of record as resources. */
interface RecordSource<Kind extends HealthRecordKind> {
  readonly kind: Kind;
  readonly prefix: IdPrefix;
  readonly scope: EndpointScope;
  /** Both inclusive, in Unix milliseconds; null for a record without a time. */
  readonly timesOf: (record: Found<Kind>) => { readonly start: number; readonly end: number } | null;
  readonly toText: (identity: Identity, record: Found<Kind>, ids: ReaderIds) => string;
  /** Whether it holds whenever it began, so that the first day of a grant does not limit it. All of these are read at once. */
  readonly isUndated?: true;
  readonly statusesOf?: (search: FhirSearch) => readonly string[];
}

function records<Kind extends HealthRecordKind>(
  { healthRecords, profiles }: DataParts,
  request: FhirRead,
  { kind, prefix, scope, timesOf, toText, isUndated, statusesOf }: RecordSource<Kind>,
): Source {
  const { search, ids, userId, dataFrom, patientId } = request;
  const toQuery = async (when: TimeBounds) => ({
    userId,
    ids: search.ids?.flatMap((id) => findRowId(ids, prefix, id) ?? []) ?? null,
    since: isUndated ? null : await findSince(profiles, request),
    coverFrom: dataFrom === null ? null : midnightUtc(dataFrom),
    statuses: statusesOf?.(search) ?? null,
    when,
  });
  const source: Source = {
    isDated: !isUndated,
    read: async (when, limit) => {
      const rows = await healthRecords.listNewest(kind, { ...(await toQuery(when)), limit });
      const fhirIds = toFhirIds(ids, prefix, rows);
      return rows.flatMap((record, index) => {
        const times = timesOf(record);
        if (isUndated && !isInBounds(times, search.when)) return [];
        const identity = { id: fhirIds[index] ?? '', patientId };
        return {
          id: identity.id,
          time: times?.start ?? null,
          scope,
          toText: () => toText(identity, record, ids),
        };
      });
    },
  };
  if (isUndated) return source;
  return { ...source, count: async () => healthRecords.count(kind, await toQuery(search.when)) };
}

/** A resource without a time is found only without bounds. */
function isInBounds(times: { start: number; end: number } | null, when: TimeBounds): boolean {
  return times === null ? Object.values(when).every((bound) => bound === null) : isWithin(times, when);
}

function instantOf(at: Date) {
  return { start: at.getTime(), end: at.getTime() };
}

function sinceOf({ sinceDate }: { readonly sinceDate: string | null }) {
  const span = findSpan(sinceDate ?? '');
  return span && { start: span.start, end: span.end - 1 };
}

/** The statuses of doses that are administrations, by the status that is shown. */
const DOSES = { completed: ['taken'], 'not-done': ['skipped', 'missed'] } as const;

const encode =
  <Shown>(toResource: (identity: Identity, shown: Shown) => object) =>
  (identity: Identity, shown: Shown) =>
    JSON.stringify(toResource(identity, shown));

const RECORDS: {
  // biome-ignore lint/suspicious/noExplicitAny: each row is of its own kind
  readonly [Type in Exclude<FhirType, 'Patient' | 'Observation'>]: RecordSource<any>;
} = {
  Condition: {
    kind: 'condition',
    prefix: 'cnd',
    scope: 'read:conditions',
    timesOf: sinceOf,
    toText: encode(resources.toCondition),
    isUndated: true,
  } satisfies RecordSource<'condition'>,
  AllergyIntolerance: {
    kind: 'allergy',
    prefix: 'alg',
    scope: 'read:allergies',
    timesOf: sinceOf,
    toText: encode(resources.toAllergy),
    isUndated: true,
  } satisfies RecordSource<'allergy'>,
  MedicationRequest: {
    kind: 'medication',
    prefix: 'med',
    scope: 'read:medications',
    timesOf: () => null,
    toText: encode(resources.toMedicationRequest),
    isUndated: true,
  } satisfies RecordSource<'medication'>,
  MedicationAdministration: {
    kind: 'adherenceEntry',
    prefix: 'adh',
    scope: 'read:medications',
    timesOf: ({ status, takenAt, at }) => instantOf((status === 'taken' ? takenAt : null) ?? at),
    toText: (identity, dose, ids) => {
      const [requestId = ''] = toFhirIds(ids, 'med', [{ id: dose.medicationId }]);
      return JSON.stringify(resources.toMedicationAdministration(identity, dose, requestId));
    },
    statusesOf: ({ statuses }) =>
      Object.entries(DOSES).flatMap(([shown, stored]) =>
        statuses === null || statuses.includes(shown) ? stored : [],
      ),
  } satisfies RecordSource<'adherenceEntry'>,
  Appointment: {
    kind: 'appointment',
    prefix: 'apt',
    scope: 'read:appointments',
    timesOf: ({ startsAt }) => instantOf(startsAt),
    toText: encode(resources.toAppointment),
  } satisfies RecordSource<'appointment'>,
  DiagnosticReport: {
    kind: 'report',
    prefix: 'rpt',
    scope: 'read:reports',
    timesOf: ({ rangeFrom, rangeTo }) => ({ start: dayOf(rangeFrom).start, end: dayOf(rangeTo).end }),
    toText: encode(resources.toDiagnosticReport),
  } satisfies RecordSource<'report'>,
  DocumentReference: {
    kind: 'ehrRecord',
    prefix: 'ehr',
    scope: 'read:ehr',
    timesOf: ({ occurredAt }) => instantOf(occurredAt),
    toText: encode(resources.toDocumentReference),
  } satisfies RecordSource<'ehrRecord'>,
};

const symptoms = (texts: ObservationTexts): RecordSource<'symptom'> => ({
  kind: 'symptom',
  prefix: 'sym',
  scope: 'read:symptoms',
  timesOf: ({ occurredAt }) => instantOf(occurredAt),
  toText: texts.ofSymptom,
});

const moods = (texts: ObservationTexts): RecordSource<'moodEntry'> => ({
  kind: 'moodEntry',
  prefix: 'mood',
  scope: 'read:mood',
  timesOf: ({ occurredAt }) => instantOf(occurredAt),
  toText: texts.ofMood,
});

/** A resource of the profile, which has no time. */
function single(request: FhirRead, find: () => Promise<{ id: string; toText: () => string } | null>): Source {
  return {
    isDated: false,
    read: async () => {
      const found = isInBounds(null, request.search.when) ? await find() : null;
      return found === null ? [] : [{ ...found, time: null, scope: 'read:profile' }];
    },
  };
}

function patient({ profiles }: DataParts, request: FhirRead): Source {
  const { userId, sub, base, patientId: id, search } = request;
  return single(request, async () => {
    if (search.identifiers !== null && !search.identifiers.includes(sub)) return null;
    const profile = (await profiles.find(userId)) ?? UNKNOWN_PERSON;
    return {
      id,
      toText: () => JSON.stringify(resources.toPatient({ id, patientId: id }, profile, sub, base)),
    };
  });
}

function bloodType({ profiles }: DataParts, request: FhirRead, texts: ObservationTexts): Source {
  const { userId, patientId } = request;
  return single(request, async () => {
    const type = (await profiles.find(userId))?.bloodType ?? null;
    const id = patientId.replace('pat-', 'blood-');
    return type && { id, toText: () => texts.ofBloodType({ id, patientId }, type) };
  });
}
