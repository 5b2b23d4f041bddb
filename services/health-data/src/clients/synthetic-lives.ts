import { createHash } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import type { SandboxPerson } from '@phds/catalog/sandbox';
import { HealthRecordSchema } from '@phds/contracts/phds/healthdata/v1/ingestion_pb';
import { ADA } from '@phds/synthetic/people/ada';
import { EMPTY, SPARSE } from '@phds/synthetic/people/people';
import type { Person } from '@phds/synthetic/person';
import type { SyntheticReading } from '@phds/synthetic/reading';
import { recordsIn, type SyntheticHealthRecord } from '@phds/synthetic/records';
import { openTimeline, readingsIn, type Timeline } from '@phds/synthetic/timeline';
import type { Life, SandboxLives } from '../app/ports.ts';
import type { HealthRecordDraft } from '../domain/health-records.ts';
import type { ReadingDraft } from '../domain/reading.ts';
import { toHealthRecordDraft } from '../rpc/ingestion-messages.ts';

/** The lives of the sandbox people (docs/sandbox.md). */
const PEOPLE: Readonly<Record<SandboxPerson, Person>> = {
  // Enough for a month of trends and a report; twice as much would keep the first approval waiting twice as long.
  ada: { ...ADA, days: 45 },
  ben: { ...SPARSE, id: 'ben', profile: { name: 'Ben Reed', gender: 'male' } },
  cleo: { ...EMPTY, id: 'cleo' },
  dora: {
    ...ADA,
    id: 'dora',
    profile: { name: 'Dora Winter', gender: 'female', dateOfBirth: '1991-08-02', bloodType: 'O+' },
    days: 7,
  },
};

const DAY_MS = 86_400_000;

/** Sandbox people from packages/synthetic. Each app's people live different lives. */
export function createSyntheticLives(): SandboxLives {
  return {
    begin(name, userId, begunAt) {
      const person = PEOPLE[name];
      const timeline = openTimeline(person, { seed: toSeed(userId), until: begunAt.getTime() });
      const { profile, timeZone } = person;
      return toLife(timeline, profile === null ? null : { ...profile, timeZone }, recordsIn(timeline));
    },
    proceed(name, userId, from, until) {
      const person = PEOPLE[name];
      if (person.life === null) return { profile: null, readings: [], records: [] };
      // The day on which the last data ends is generated again up to now. At most as many days as at the first use.
      const missing = Math.ceil((until.getTime() - from.getTime()) / DAY_MS) + 1;
      const timeline = openTimeline(person, {
        seed: toSeed(userId),
        until: until.getTime(),
        extent: { days: Math.min(missing, person.days) },
      });
      return toLife(timeline, null, diaryIn(timeline));
    },
    keepsArriving: (name) => name === 'dora',
  };
}

/** A number that differs from person to person. */
function toSeed(userId: string): number {
  return createHash('sha256').update(userId).digest().readUInt32BE();
}

function toLife(
  timeline: Timeline,
  profile: Life['profile'],
  records: Iterable<SyntheticHealthRecord>,
): Life {
  return {
    profile,
    readings: map(readingsIn(timeline), toReadingDraft),
    records: map(records, toRecordDraft),
  };
}

const DIARY: ReadonlySet<string | undefined> = new Set(['adherenceEntry', 'symptom', 'moodEntry']);

/** The records of single days. The others depend on the last day of the timeline, and would be stored again for another one. */
function* diaryIn(timeline: Timeline): Generator<SyntheticHealthRecord> {
  for (const record of recordsIn(timeline)) {
    if (DIARY.has(record.record?.case)) yield record;
  }
}

function* map<From, To>(items: Iterable<From>, convert: (item: From) => To): Generator<To> {
  for (const item of items) yield convert(item);
}

function toReadingDraft({ type, start, end, value, source }: SyntheticReading): ReadingDraft {
  return { type, start: new Date(start), end: new Date(end), value, unit: '', source };
}

/** By the message, which fills in what the synthetic record leaves out. */
function toRecordDraft(synthetic: SyntheticHealthRecord): HealthRecordDraft {
  return toHealthRecordDraft(create(HealthRecordSchema, synthetic));
}
