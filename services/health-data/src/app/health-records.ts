import type { EndpointId } from '@phds/catalog/endpoints';
import { type AppError, notFound } from '@phds/service-kit/errors';
import { midnightUtc } from '../domain/dates.ts';
import { fieldsOf, type HealthRecordKind, type Stored } from '../domain/health-records.ts';
import type { IdPrefix } from '../domain/public-id.ts';
import { formatWithOffset } from '../domain/time-zone.ts';
import { EVERYTHING, notBefore, toDates, toInstants } from '../domain/window.ts';
import type { DataRequest } from './data-request.ts';
import { findSince, toSlice } from './data-window.ts';
import { type Answer, toListAnswer } from './document.ts';
import type { DoseQuery, HealthRecordQuery, HealthRecordReader, ProfileStore } from './ports.ts';

interface HealthRecordPorts {
  readonly healthRecords: HealthRecordReader;
  readonly profiles: ProfileStore;
}

/** A list of records: its kind, how a window applies, and how an item is presented. */
interface HealthRecordList<Kind extends HealthRecordKind> {
  readonly kind: Kind;
  readonly prefix: IdPrefix;
  /**
   * How windows apply. `instant` and `report` respect the first day of a grant. `date` and `none` are facts that still hold: an
   * allergy known since childhood is current, so a grant that starts later includes it.
   */
  readonly judgedBy: 'instant' | 'report' | 'date' | 'none';
  /** The visible fields of an item besides its id; default: each under its name. */
  readonly present?: (record: Stored<Kind>) => object;
}

type ReadList = (ports: HealthRecordPorts, request: DataRequest) => Promise<Answer>;

/** The endpoints that return lists of one kind of record. */
export type HealthRecordEndpoint = Extract<
  EndpointId,
  'symptoms' | 'medications' | 'conditions' | 'allergies' | 'appointments' | 'mood' | 'reports' | 'ehr'
>;

const LISTS: Readonly<Record<HealthRecordEndpoint, ReadList>> = {
  symptoms: listOf({ kind: 'symptom', prefix: 'sym', judgedBy: 'instant' }),
  medications: listOf({ kind: 'medication', prefix: 'med', judgedBy: 'none' }),
  conditions: listOf({ kind: 'condition', prefix: 'cnd', judgedBy: 'date' }),
  allergies: listOf({ kind: 'allergy', prefix: 'alg', judgedBy: 'date' }),
  appointments: listOf({
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
  mood: listOf({ kind: 'mood-entry', prefix: 'mood', judgedBy: 'instant' }),
  reports: listOf({
    kind: 'report',
    prefix: 'rpt',
    judgedBy: 'report',
    present: ({ generatedAt, rangeFrom, rangeTo, summary }) => ({
      generatedAt,
      dateRange: { from: rangeFrom, to: rangeTo },
      summary,
    }),
  }),
  ehr: listOf({ kind: 'ehr-record', prefix: 'ehr', judgedBy: 'instant' }),
};

/** The list of one resource, in its public order. */
export function readHealthRecords(
  ports: HealthRecordPorts,
  endpoint: HealthRecordEndpoint,
  request: DataRequest,
): Promise<Answer> {
  return LISTS[endpoint](ports, request);
}

/** The doses of one medication, newest first. NOT_FOUND if the user has no such medication. */
export async function readAdherence(
  ports: HealthRecordPorts,
  request: DataRequest,
): Promise<Answer | AppError> {
  const medicationId = request.ids.findRowId('med', request.medicationId);
  if (medicationId === null || !(await ports.healthRecords.hasMedication(request.userId, medicationId))) {
    return notFound();
  }
  const doses = { kind: 'adherence-entry', prefix: 'adh', judgedBy: 'instant', medicationId } as const;
  return listOf(doses)(ports, request);
}

/** The newest doses of all medications as their adherence shows them, with the names of the medications. */
export async function readNewestDoses(
  { healthRecords }: Pick<HealthRecordPorts, 'healthRecords'>,
  query: DoseQuery,
): Promise<{ total: number; newest: object[] }> {
  const { items, total } = await healthRecords.listDoses(query);
  const newest = items.map((dose) => ({
    medication: dose.medication,
    ...presentFields('adherence-entry', dose),
  }));
  return { total, newest };
}

function listOf<Kind extends HealthRecordKind>(
  list: HealthRecordList<Kind> & { readonly medicationId?: string },
): ReadList {
  const { kind, prefix, judgedBy, medicationId } = list;
  const { present = (record) => presentFields(kind, record) } = list;
  return async (ports, request) => {
    const page = await ports.healthRecords.list(kind, {
      ...(await toHealthRecordQuery(judgedBy, ports.profiles, request)),
      ...(medicationId === undefined ? {} : { medicationId }),
    });
    const publicIds = request.ids.toPublicIds(prefix, page.items);
    const items = page.items.map((record, index) => ({ id: publicIds[index], ...present(record) }));
    return toListAnswer(items, { ...request.parameters, total: page.total });
  };
}

async function toHealthRecordQuery(
  judgedBy: HealthRecordList<HealthRecordKind>['judgedBy'],
  profiles: ProfileStore,
  request: DataRequest,
): Promise<HealthRecordQuery> {
  const { userId, parameters, dataFrom } = request;
  const { window } = parameters;
  const rows = { userId, ...toSlice(parameters) };
  if (judgedBy === 'none') return { ...rows, range: EVERYTHING_RANGE };
  if (judgedBy === 'date') return { ...rows, range: toDates(window) };
  const range = notBefore(toInstants(window), await findSince(profiles, request));
  // A report generated today may cover earlier years, so the covered period must start inside the window too.
  const coverFrom = judgedBy === 'report' && dataFrom !== null ? midnightUtc(dataFrom) : null;
  return { ...rows, range, coverFrom };
}

const EVERYTHING_RANGE = toInstants(EVERYTHING);

function presentFields(kind: HealthRecordKind, record: object): object {
  const values = new Map<string, unknown>(Object.entries(record));
  const shown = fieldsOf(kind).flatMap(([field, { name }]) =>
    name === null ? [] : [[name, values.get(field)]],
  );
  return Object.fromEntries(shown);
}
