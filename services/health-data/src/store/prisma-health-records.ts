import { translatingErrors } from '@phds/service-kit/postgres/errors';
import type { DoseQuery, HealthRecordQuery, HealthRecordReader, NamedDose, Page } from '../app/ports.ts';
import type { HealthRecordKind, Stored } from '../domain/health-records.ts';
import type { Range } from '../domain/window.ts';
import type { Prisma, PrismaClient } from './generated/client.ts';

/** Reads records. Stored values were validated by the domain, so their codes are the domain's. */
export function createPrismaHealthRecords(prisma: PrismaClient): HealthRecordReader {
  return translatingErrors({
    async list<Kind extends HealthRecordKind>(kind: Kind, query: HealthRecordQuery) {
      // One snapshot, so that page and total agree.
      const snapshot = { isolationLevel: 'RepeatableRead' as const };
      const [items, total] = await prisma.$transaction(READERS[kind](prisma, query), snapshot);
      return { items: items as Stored<Kind>[], total };
    },
    listDoses: (query) => listDoses(prisma, query),
    hasMedication: async (userId, id) => (await prisma.medication.count({ where: { userId, id } })) > 0,
  });
}

/** An app reads doses by medication, so those of a medication that the user does not have are left out. */
async function listDoses(
  prisma: PrismaClient,
  { userId, since, limit }: DoseQuery,
): Promise<Page<NamedDose>> {
  const medications = await prisma.medication.findMany({
    where: { userId },
    select: { id: true, name: true },
  });
  const names = new Map(medications.map(({ id, name }) => [id, name]));
  const where = {
    userId,
    medicationId: { in: [...names.keys()] },
    at: toFilter({ from: since, to: null }),
  };
  const [doses, total] = await prisma.$transaction([
    prisma.adherenceEntry.findMany({ where, take: limit, orderBy: ORDERS.adherenceEntry }),
    prisma.adherenceEntry.count({ where }),
  ]);
  const items = doses.map((dose) => ({ ...dose, medication: names.get(dose.medicationId) ?? '' }));
  return { items: items as NamedDose[], total };
}

/** Returns the page and the total. */
type Reader = (
  prisma: PrismaClient,
  query: HealthRecordQuery,
) => [Prisma.PrismaPromise<unknown[]>, Prisma.PrismaPromise<number>];

const READERS: Readonly<Record<HealthRecordKind, Reader>> = {
  symptom: ({ symptom }, query) => {
    const where = { userId: query.userId, occurredAt: toFilter(query.range) };
    return [symptom.findMany({ where, ...slice(query), orderBy: ORDERS.symptom }), symptom.count({ where })];
  },
  medication: ({ medication }, query) => {
    const where = { userId: query.userId };
    return [
      medication.findMany({ where, ...slice(query), orderBy: ORDERS.medication }),
      medication.count({ where }),
    ];
  },
  'adherence-entry': ({ adherenceEntry }, query) => {
    const { userId, medicationId } = query;
    if (medicationId === undefined) throw new RangeError('Adherence is read by medication.');
    const where = { userId, medicationId, at: toFilter(query.range) };
    return [
      adherenceEntry.findMany({ where, ...slice(query), orderBy: ORDERS.adherenceEntry }),
      adherenceEntry.count({ where }),
    ];
  },
  condition: ({ condition }, query) => {
    const where = { userId: query.userId, ...sinceFilter(query.range) };
    return [condition.findMany({ where, ...slice(query), orderBy: ORDERS.fact }), condition.count({ where })];
  },
  allergy: ({ allergy }, query) => {
    const where = { userId: query.userId, ...sinceFilter(query.range) };
    return [allergy.findMany({ where, ...slice(query), orderBy: ORDERS.fact }), allergy.count({ where })];
  },
  appointment: ({ appointment }, query) => {
    const where = { userId: query.userId, startsAt: toFilter(query.range) };
    return [
      appointment.findMany({ where, ...slice(query), orderBy: ORDERS.appointment }),
      appointment.count({ where }),
    ];
  },
  'mood-entry': ({ moodEntry }, query) => {
    const where = { userId: query.userId, occurredAt: toFilter(query.range) };
    return [
      moodEntry.findMany({ where, ...slice(query), orderBy: ORDERS.moodEntry }),
      moodEntry.count({ where }),
    ];
  },
  report: ({ report }, query) => {
    const rangeFrom = toFilter({ from: query.coverFrom ?? null, to: null });
    const where = { userId: query.userId, generatedAt: toFilter(query.range), rangeFrom };
    return [report.findMany({ where, ...slice(query), orderBy: ORDERS.report }), report.count({ where })];
  },
  'ehr-record': ({ ehrRecord }, query) => {
    const where = { userId: query.userId, occurredAt: toFilter(query.range) };
    return [
      ehrRecord.findMany({ where, ...slice(query), orderBy: ORDERS.ehrRecord }),
      ehrRecord.count({ where }),
    ];
  },
};

function toFilter({ from, to }: Range) {
  return { ...(from === null ? {} : { gte: from }), ...(to === null ? {} : { lt: to }) };
}

/** Without a window, facts with an unknown start are included; a filter would exclude them. */
function sinceFilter(range: Range) {
  return range.from === null && range.to === null ? {} : { sinceOn: toFilter(range) };
}

function slice({ limit, offset }: HealthRecordQuery) {
  return { take: limit, skip: offset };
}

// Records of the same time or day are ordered by what an app sees of them. Row ids must not order what leaves (README); they only
// separate records that look alike, of which an app cannot tell which is which.
const ORDERS = {
  symptom: [{ occurredAt: 'desc' }, { description: 'asc' }, { severity: 'asc' }, { id: 'asc' }],
  medication: [
    { sortName: 'asc' },
    { name: 'asc' },
    { dosage: 'asc' },
    { frequency: 'asc' },
    { condition: 'asc' },
    { pattern: 'asc' },
    { id: 'asc' },
  ],
  adherenceEntry: [
    { at: 'desc' },
    { scheduledAt: 'desc' },
    { takenAt: 'desc' },
    { status: 'asc' },
    { dose: 'asc' },
    { reason: 'asc' },
    { id: 'asc' },
  ],
  fact: [
    { sinceOn: { sort: 'desc', nulls: 'last' } },
    { sinceDate: 'asc' },
    { name: 'asc' },
    { severity: 'asc' },
    { id: 'asc' },
  ],
  appointment: [
    { startsAt: 'desc' },
    { title: 'asc' },
    { specialty: 'asc' },
    { location: 'asc' },
    { offsetMinutes: 'asc' },
    { id: 'asc' },
  ],
  moodEntry: [{ occurredAt: 'desc' }, { mood: 'asc' }, { note: 'asc' }, { id: 'asc' }],
  report: [
    { generatedAt: 'desc' },
    { rangeFrom: 'desc' },
    { rangeTo: 'desc' },
    { summary: 'asc' },
    { id: 'asc' },
  ],
  ehrRecord: [{ occurredAt: 'desc' }, { resourceType: 'asc' }, { summary: 'asc' }, { id: 'asc' }],
} satisfies Orders;

interface Orders {
  readonly symptom: Prisma.SymptomOrderByWithRelationInput[];
  readonly medication: Prisma.MedicationOrderByWithRelationInput[];
  readonly adherenceEntry: Prisma.AdherenceEntryOrderByWithRelationInput[];
  readonly fact: (Prisma.ConditionOrderByWithRelationInput & Prisma.AllergyOrderByWithRelationInput)[];
  readonly appointment: Prisma.AppointmentOrderByWithRelationInput[];
  readonly moodEntry: Prisma.MoodEntryOrderByWithRelationInput[];
  readonly report: Prisma.ReportOrderByWithRelationInput[];
  readonly ehrRecord: Prisma.EhrRecordOrderByWithRelationInput[];
}
