import type { EndpointId } from '@phds/catalog/endpoints';
import { notFound } from '@phds/service-kit/errors';
import { toDateText } from '../domain/dates.ts';
import type { IdPrefix } from '../domain/public-id.ts';
import type { RecordKind, StandingFact, Stored } from '../domain/records.ts';
import { formatWithOffset } from '../domain/time-zone.ts';
import { EVERYTHING, notBefore, toDates, toInstants } from '../domain/window.ts';
import { findSince, toSlice } from './data-window.ts';
import { toListAnswer } from './document.ts';
import type { ProfileStore, RecordQuery, RecordReader } from './ports.ts';
import type { Read, ReadScope } from './released-read.ts';

interface RecordPorts {
  readonly records: RecordReader;
  readonly profiles: ProfileStore;
}

/** A list of records: what is read, how a window applies to it, and what an item looks like outside. */
interface Resource<Kind extends RecordKind> {
  readonly kind: Kind;
  readonly prefix: IdPrefix;
  /**
   * What decides about windows. `instant` and `report` respect the beginning that a grant may set. `date` and `none`
   * are standing facts: an allergy known since childhood is as true today, so a grant that begins later shows it too.
   */
  readonly judgedBy: 'instant' | 'report' | 'date' | 'none';
  /** What an item shows besides its id. */
  readonly present: (record: Stored<Kind>) => object;
}

/** The endpoints whose answers are lists of one kind of record. */
export type RecordEndpoint = Extract<
  EndpointId,
  'symptoms' | 'medications' | 'conditions' | 'allergies' | 'appointments' | 'mood' | 'reports' | 'ehr'
>;

const RESOURCES: { readonly [Endpoint in RecordEndpoint]: (ports: RecordPorts) => Read } = {
  symptoms: list({
    kind: 'symptom',
    prefix: 'sym',
    judgedBy: 'instant',
    present: ({ description, severity, occurredAt }) => ({
      description,
      severity,
      timestamp: occurredAt,
    }),
  }),
  medications: list({
    kind: 'medication',
    prefix: 'med',
    judgedBy: 'none',
    present: ({ name, dosage, frequency, condition, pattern }) => ({
      name,
      dosage,
      frequency,
      condition,
      pattern,
    }),
  }),
  conditions: list({
    kind: 'condition',
    prefix: 'cnd',
    judgedBy: 'date',
    present: presentFact,
  }),
  allergies: list({
    kind: 'allergy',
    prefix: 'alg',
    judgedBy: 'date',
    present: presentFact,
  }),
  appointments: list({
    kind: 'appointment',
    prefix: 'apt',
    judgedBy: 'instant',
    present: ({ title, startsAt, offsetMinutes, specialty, location }) => ({
      title,
      dateTime: formatWithOffset(startsAt, offsetMinutes),
      specialty,
      location,
    }),
  }),
  mood: list({
    kind: 'mood-entry',
    prefix: 'mood',
    judgedBy: 'instant',
    present: ({ mood, note, occurredAt }) => ({
      mood,
      note,
      timestamp: occurredAt,
    }),
  }),
  reports: list({
    kind: 'report',
    prefix: 'rpt',
    judgedBy: 'report',
    present: ({ generatedAt, rangeFrom, rangeTo, summary }) => ({
      generatedAt,
      dateRange: { from: toDateText(rangeFrom), to: toDateText(rangeTo) },
      summary,
    }),
  }),
  ehr: list({
    kind: 'ehr-record',
    prefix: 'ehr',
    judgedBy: 'instant',
    present: ({ resourceType, summary, occurredAt }) => ({
      resourceType,
      summary,
      timestamp: occurredAt,
    }),
  }),
};

/** The list of one resource, in the order of contract section 6. */
export function readRecords(ports: RecordPorts, endpoint: RecordEndpoint): Read {
  return RESOURCES[endpoint](ports);
}

/** The doses of one medication, newest first; NOT_FOUND when the user has no such medication. */
export function readAdherence(ports: RecordPorts, medicationId: string): Read {
  return async (scope) => {
    const rowId = scope.ids.findRowId('med', medicationId);
    if (rowId === null || !(await ports.records.hasMedication(scope.userId, rowId))) return notFound();
    return list({ ...DOSES, medicationId: rowId })(ports)(scope);
  };
}

function list<Kind extends RecordKind>(
  resource: Resource<Kind> & { readonly medicationId?: string },
): (ports: RecordPorts) => Read {
  const { kind, prefix, present, medicationId } = resource;
  return (ports) => async (scope) => {
    const page = await ports.records.list(kind, {
      ...(await toRecordQuery(resource.judgedBy, ports.profiles, scope)),
      ...(medicationId === undefined ? {} : { medicationId }),
    });
    const publicIds = scope.ids.toPublicIds(prefix, page.items);
    const items = page.items.map((record, index) => ({ id: publicIds[index], ...present(record) }));
    return toListAnswer(items, { ...scope.query, total: page.total });
  };
}

async function toRecordQuery(
  judgedBy: Resource<RecordKind>['judgedBy'],
  profiles: ProfileStore,
  scope: ReadScope,
): Promise<RecordQuery> {
  const { userId, query, dataFrom } = scope;
  const rows = { userId, ...toSlice(query) };
  if (judgedBy === 'none') return { ...rows, range: EVERYTHING_RANGE };
  if (judgedBy === 'date') return { ...rows, range: toDates(query.window) };
  const range = notBefore(toInstants(query.window), await findSince(profiles, scope));
  // A report generated today may tell of years ago: what it covers has to begin inside the window too.
  const coverFrom = judgedBy === 'report' && dataFrom !== null ? new Date(`${dataFrom}T00:00:00Z`) : null;
  return { ...rows, range, coverFrom };
}

const EVERYTHING_RANGE = toInstants(EVERYTHING);

function presentFact({ name, severity, sinceDate }: StandingFact) {
  return { name, severity, sinceDate };
}

const DOSES: Resource<'adherence-entry'> = {
  kind: 'adherence-entry',
  prefix: 'adh',
  judgedBy: 'instant',
  present: ({ scheduledAt, status, takenAt, dose, reason }) => ({
    scheduledAt,
    status,
    takenAt,
    dose,
    reason,
  }),
};
