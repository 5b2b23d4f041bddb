import type { EndpointId } from '@phds/catalog/endpoints';
import { notFound } from '@phds/service-kit/errors';
import { toDateText } from '../domain/dates.ts';
import { findRowId, toPublicId } from '../domain/public-id.ts';
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
  /**
   * What decides about windows. `instant` and `report` respect the beginning that a grant may set. `date` and `none`
   * are standing facts: an allergy known since childhood is as true today, so a grant that begins later shows it too.
   */
  readonly judgedBy: 'instant' | 'report' | 'date' | 'none';
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
    judgedBy: 'instant',
    present: ({ id, description, severity, occurredAt }) => ({
      id: toPublicId('sym', id),
      description,
      severity,
      timestamp: occurredAt,
    }),
  }),
  medications: list({
    kind: 'medication',
    judgedBy: 'none',
    present: ({ id, name, dosage, frequency, condition, pattern }) => ({
      id: toPublicId('med', id),
      name,
      dosage,
      frequency,
      condition,
      pattern,
    }),
  }),
  conditions: list({
    kind: 'condition',
    judgedBy: 'date',
    present: (fact) => ({ id: toPublicId('cnd', fact.id), ...presentFact(fact) }),
  }),
  allergies: list({
    kind: 'allergy',
    judgedBy: 'date',
    present: (fact) => ({ id: toPublicId('alg', fact.id), ...presentFact(fact) }),
  }),
  appointments: list({
    kind: 'appointment',
    judgedBy: 'instant',
    present: ({ id, title, startsAt, offsetMinutes, specialty, location }) => ({
      id: toPublicId('apt', id),
      title,
      dateTime: formatWithOffset(startsAt, offsetMinutes),
      specialty,
      location,
    }),
  }),
  mood: list({
    kind: 'mood-entry',
    judgedBy: 'instant',
    present: ({ id, mood, note, occurredAt }) => ({
      id: toPublicId('mood', id),
      mood,
      note,
      timestamp: occurredAt,
    }),
  }),
  reports: list({
    kind: 'report',
    judgedBy: 'report',
    present: ({ id, generatedAt, rangeFrom, rangeTo, summary }) => ({
      id: toPublicId('rpt', id),
      generatedAt,
      dateRange: { from: toDateText(rangeFrom), to: toDateText(rangeTo) },
      summary,
    }),
  }),
  ehr: list({
    kind: 'ehr-record',
    judgedBy: 'instant',
    present: ({ id, resourceType, summary, occurredAt }) => ({
      id: toPublicId('ehr', id),
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
    const rowId = findRowId('med', medicationId);
    if (rowId === null || !(await ports.records.hasMedication(scope.userId, rowId))) return notFound();
    return list({ kind: 'adherence-entry', judgedBy: 'instant', present: presentDose, medicationId: rowId })(
      ports,
    )(scope);
  };
}

function list<Kind extends RecordKind>(
  resource: Resource<Kind> & { readonly medicationId?: string },
): (ports: RecordPorts) => Read {
  const { kind, present, medicationId } = resource;
  return (ports) => async (scope) => {
    const page = await ports.records.list(kind, {
      ...(await toRecordQuery(resource.judgedBy, ports.profiles, scope)),
      ...(medicationId === undefined ? {} : { medicationId }),
    });
    return toListAnswer(page.items.map(present), { ...scope.query, total: page.total });
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

function presentDose({ id, scheduledAt, status, takenAt, dose, reason }: Stored<'adherence-entry'>) {
  return { id: toPublicId('adh', id), scheduledAt, status, takenAt, dose, reason };
}
