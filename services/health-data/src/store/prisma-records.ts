import type { RecordQuery, RecordReader } from '../app/ports.ts';
import type { RecordKind, Stored } from '../domain/records.ts';
import type { Range } from '../domain/window.ts';
import { translated } from './database.ts';
import type { Prisma, PrismaClient } from './generated/client.ts';

/** Records. What is stored passed the checks of the domain, so its codes are the domain's. */
export function createPrismaRecords(prisma: PrismaClient): RecordReader {
  return {
    list: <Kind extends RecordKind>(kind: Kind, query: RecordQuery) =>
      translated(async () => {
        // One snapshot, so that the total counts what the page was taken from.
        const snapshot = { isolationLevel: 'RepeatableRead' as const };
        const [items, total] = await prisma.$transaction(READERS[kind](prisma, query), snapshot);
        return { items: items as Stored<Kind>[], total };
      }),
    hasMedication: (userId, id) =>
      translated(async () => (await prisma.medication.count({ where: { userId, id } })) > 0),
  };
}

/** The page, and how many there are. */
type Reader = (
  prisma: PrismaClient,
  query: RecordQuery,
) => [Prisma.PrismaPromise<unknown[]>, Prisma.PrismaPromise<number>];

const READERS: Readonly<Record<RecordKind, Reader>> = {
  symptom: ({ symptom }, query) => {
    const where = { userId: query.userId, occurredAt: toFilter(query.range) };
    return [symptom.findMany({ where, ...slice(query), ...newest('occurredAt') }), symptom.count({ where })];
  },
  medication: ({ medication }, query) => {
    const where = { userId: query.userId };
    const orderBy = [{ sortName: 'asc' as const }, { id: 'asc' as const }];
    return [medication.findMany({ where, orderBy, ...slice(query) }), medication.count({ where })];
  },
  'adherence-entry': ({ adherenceEntry }, query) => {
    const { userId, medicationId } = query;
    if (medicationId === undefined) throw new RangeError('Adherence is read by medication.');
    const where = { userId, medicationId, at: toFilter(query.range) };
    return [
      adherenceEntry.findMany({ where, ...slice(query), ...newest('at') }),
      adherenceEntry.count({ where }),
    ];
  },
  condition: ({ condition }, query) => {
    const where = { userId: query.userId, ...sinceFilter(query.range) };
    return [condition.findMany({ where, ...slice(query), orderBy: SINCE_ORDER }), condition.count({ where })];
  },
  allergy: ({ allergy }, query) => {
    const where = { userId: query.userId, ...sinceFilter(query.range) };
    return [allergy.findMany({ where, ...slice(query), orderBy: SINCE_ORDER }), allergy.count({ where })];
  },
  appointment: ({ appointment }, query) => {
    const where = { userId: query.userId, startsAt: toFilter(query.range) };
    return [
      appointment.findMany({ where, ...slice(query), ...newest('startsAt') }),
      appointment.count({ where }),
    ];
  },
  'mood-entry': ({ moodEntry }, query) => {
    const where = { userId: query.userId, occurredAt: toFilter(query.range) };
    return [
      moodEntry.findMany({ where, ...slice(query), ...newest('occurredAt') }),
      moodEntry.count({ where }),
    ];
  },
  report: ({ report }, query) => {
    const rangeFrom = toFilter({ from: query.coverFrom ?? null, to: null });
    const where = { userId: query.userId, generatedAt: toFilter(query.range), rangeFrom };
    return [report.findMany({ where, ...slice(query), ...newest('generatedAt') }), report.count({ where })];
  },
  'ehr-record': ({ ehrRecord }, query) => {
    const where = { userId: query.userId, occurredAt: toFilter(query.range) };
    return [
      ehrRecord.findMany({ where, ...slice(query), ...newest('occurredAt') }),
      ehrRecord.count({ where }),
    ];
  },
};

function toFilter({ from, to }: Range) {
  return { ...(from === null ? {} : { gte: from }), ...(to === null ? {} : { lt: to }) };
}

/** Without a window the facts of unknown beginning are among the answer; a filter would drop them. */
function sinceFilter(range: Range) {
  return range.from === null && range.to === null ? {} : { sinceOn: toFilter(range) };
}

function slice({ limit, offset }: RecordQuery) {
  return { take: limit, skip: offset };
}

function newest<Field extends string>(field: Field) {
  return { orderBy: [{ [field]: 'desc' } as Record<Field, 'desc'>, { id: 'desc' as const }] };
}

const SINCE_ORDER = [{ sinceOn: { sort: 'desc' as const, nulls: 'last' as const } }, { id: 'desc' as const }];
