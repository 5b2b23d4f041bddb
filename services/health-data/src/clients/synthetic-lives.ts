import { createHash } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { HealthRecordSchema } from '@phds/contracts/phds/healthdata/v1/ingestion_pb';
import { ADA, findPerson } from '@phds/synthetic/people';
import type { Person } from '@phds/synthetic/person';
import type { SyntheticReading } from '@phds/synthetic/reading';
import { recordsIn } from '@phds/synthetic/records';
import { openTimeline, readingsIn } from '@phds/synthetic/timeline';
import type { ReadingDraft } from '../ingest-readings.ts';
import type { Life } from '../sandbox.ts';

/** Enough for a month of trends and a report; twice as much would keep the first approval waiting twice as long. */
const DAYS = 45;

/** The life of a person of packages/synthetic with this name; everybody else lives like ada. The same name always has the same seed. */
export function makeUpLife(userId: string, until: Date): Life {
  const person = findPerson(userId) ?? toNamesake(userId);
  const days = Math.min(person.days, DAYS);
  const timeline = openTimeline(person, { seed: toSeed(userId), until: until.getTime(), days });
  const { profile, timeZone } = person;
  return {
    profile: profile === null ? null : { ...profile, timeZone },
    readings: map(readingsIn(timeline), toReadingDraft),
    // The message fills in what the synthetic record leaves out.
    records: map(recordsIn(timeline), (record) => create(HealthRecordSchema, record)),
  };
}

/** The profile shows the name, so that people are told apart. */
function toNamesake(userId: string): Person {
  return {
    ...ADA,
    id: userId,
    profile: { name: (userId.split(':').at(-1) ?? '').slice(0, MAX_NAME), gender: 'unknown' },
  };
}

const MAX_NAME = 100;

/** A number that differs from person to person. */
function toSeed(userId: string): number {
  return createHash('sha256').update(userId).digest().readUInt32BE();
}

function* map<From, To>(items: Iterable<From>, convert: (item: From) => To): Generator<To> {
  for (const item of items) yield convert(item);
}

function toReadingDraft({ type, start, end, value, source }: SyntheticReading): ReadingDraft {
  return { type, start: timestampFromMs(start), end: timestampFromMs(end), value, unit: '', source };
}
