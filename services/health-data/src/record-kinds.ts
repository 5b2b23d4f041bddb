import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { findInstant, isDate } from '@phds/catalog/instants';
import { ADHERENCE_STATUSES, MEDICATION_PATTERNS, MOODS, SEVERITIES } from '@phds/catalog/wire-names';
import type { HealthRecord as HealthRecordMessage } from '@phds/contracts/phds/healthdata/v1/ingestion_pb';
import { checkMoment, checkNotBefore1900, RefusedItem } from './batches.ts';
import { findFirstDay, toDate } from './dates.ts';

/** The fields of a record as an importer sent them: texts and times. Absent and empty mean unknown. */
type SentFields = Readonly<Record<string, unknown>>;

/** One record of a batch with its natural key, before validation. */
export type HealthRecordDraft = Omit<HealthRecordMessage, '$typeName' | '$unknown'>;

/** Context that a check may need besides the record. */
interface IntakeContext {
  readonly now: Date;
  /** The row id of a medication of the same user and source. */
  readonly medicationIdOf: (key: string) => string;
}

interface Field<Value> {
  /** Its name where importers send it and apps read it; null for a field that is computed. */
  readonly name: string | null;
  /** Validates what was sent. Throws RefusedItem with the reason. */
  readonly parse: (sent: SentFields, context: IntakeContext) => Value;
}

const NAME_MAX = 200;
const TEXT_MAX = 500;
const LONG_TEXT_MAX = 4_000;

const MEDICATION_NAME = required(optionalText('name', NAME_MAX));
const MEDICATION_KEY = required(optionalText('medicationKey', NAME_MAX));
const SCHEDULED_AT = optionalMoment('scheduledAt', checkNotBefore1900);
const TAKEN_AT = optionalMoment('takenAt', checkMoment);
const SINCE_DATE = partialDate('sinceDate');
const FROM = date('from');
const TO = date('to');

/** A condition or an allergy. */
const CONDITION_OR_ALLERGY = {
  name: required(optionalText('name', NAME_MAX)),
  severity: optionalCode('severity', SEVERITIES),
  sinceDate: SINCE_DATE,
  /** The first day of `sinceDate`. */
  sinceOn: computed((sent, context) => findFirstDay(SINCE_DATE.parse(sent, context) ?? '')),
};

/**
 * Every kind of record, by its name in the message, and its fields, in the order in which they are checked, are shown, and order records of the same time.
 * Ingestion, the statements that write and read, and the lists of apps are made from it. The table has the name of the kind and the
 * columns have the names of the fields, in snake case. A value is a text, a number, a `Date`, or a date as YYYY-MM-DD; null is unknown.
 */
const HEALTH_RECORDS = {
  symptom: {
    description: required(optionalText('description', TEXT_MAX)),
    severity: optionalCode('severity', SEVERITIES),
    occurredAt: required(optionalMoment('timestamp', checkMoment)),
  },
  medication: {
    name: MEDICATION_NAME,
    /** The name in lower case, for ordering. */
    sortName: computed((sent, context) => MEDICATION_NAME.parse(sent, context).toLowerCase()),
    dosage: optionalText('dosage', NAME_MAX),
    frequency: optionalText('frequency', NAME_MAX),
    condition: optionalText('condition', NAME_MAX),
    pattern: optionalCode('pattern', MEDICATION_PATTERNS),
  },
  adherenceEntry: {
    medicationId: computed((sent, context) => context.medicationIdOf(MEDICATION_KEY.parse(sent, context))),
    /** The time that counts for a dose: scheduled, or taken for an as-needed one. */
    at: computed((sent, context) => {
      const [scheduledAt, takenAt] = [SCHEDULED_AT.parse(sent, context), TAKEN_AT.parse(sent, context)];
      const at = scheduledAt ?? takenAt;
      if (at === null) throw new RefusedItem('scheduledAt and takenAt are both missing');
      return at;
    }),
    scheduledAt: SCHEDULED_AT,
    status: required(optionalCode('status', ADHERENCE_STATUSES)),
    takenAt: TAKEN_AT,
    dose: optionalText('dose', NAME_MAX),
    reason: optionalText('reason', TEXT_MAX),
  },
  condition: CONDITION_OR_ALLERGY,
  allergy: CONDITION_OR_ALLERGY,
  appointment: {
    startsAt: computed((sent) => parseDateTime(sent).at),
    title: required(optionalText('title', NAME_MAX)),
    specialty: optionalText('specialty', NAME_MAX),
    location: optionalText('location', TEXT_MAX),
    /** The offset that it was made in and is returned in. */
    offsetMinutes: computed((sent) => parseDateTime(sent).offsetMinutes),
  },
  moodEntry: {
    mood: required(optionalCode('mood', MOODS)),
    note: optionalText('note', LONG_TEXT_MAX),
    occurredAt: required(optionalMoment('timestamp', checkMoment)),
  },
  report: {
    /** Inclusive dates. */
    rangeFrom: FROM,
    rangeTo: computed((sent, context) => {
      const to = TO.parse(sent, context);
      if (to < FROM.parse(sent, context)) throw new RefusedItem('to is before from');
      return to;
    }),
    generatedAt: required(optionalMoment('generatedAt', checkMoment)),
    summary: required(optionalText('summary', LONG_TEXT_MAX)),
  },
  ehrRecord: {
    resourceType: resourceType('resourceType'),
    summary: required(optionalText('summary', TEXT_MAX)),
    occurredAt: required(optionalMoment('timestamp', checkMoment)),
  },
} as const;

export type HealthRecordKind = keyof typeof HEALTH_RECORDS;

export function isKind(name: string): name is HealthRecordKind {
  return Object.hasOwn(HEALTH_RECORDS, name);
}

/** The validated content of a record of each kind. */
export type HealthRecordTypes = {
  readonly [Kind in HealthRecordKind]: Values<(typeof HEALTH_RECORDS)[Kind]>;
};

type Values<Fields> = {
  readonly [Name in keyof Fields]: Fields[Name] extends Field<infer Value> ? Value : never;
};

/** A record with the id of its row. */
export type Stored<Kind extends HealthRecordKind> = HealthRecordTypes[Kind] & { readonly id: string };

/** The fields of a kind by their names. */
export function fieldsOf(kind: HealthRecordKind): [name: string, field: Field<unknown>][] {
  return Object.entries(HEALTH_RECORDS[kind]);
}

/** Validates the fields of one record. Throws RefusedItem with the reason. */
export function parseFields<Kind extends HealthRecordKind>(
  kind: Kind,
  sent: SentFields,
  context: IntakeContext,
): HealthRecordTypes[Kind] {
  const values = fieldsOf(kind).map(([name, { parse }]) => [name, parse(sent, context)]);
  return Object.fromEntries(values);
}

function computed<Value>(parse: Field<Value>['parse']): Field<Value> {
  return { name: null, parse };
}

function required<Value>({ name, parse }: Field<Value | null>): Field<Value> {
  return {
    name,
    parse(sent, context) {
      const value = parse(sent, context);
      if (value === null) throw new RefusedItem(`${name} is missing`);
      return value;
    },
  };
}

function optionalText(name: string, maxLength: number): Field<string | null> {
  return {
    name,
    parse(sent) {
      const value = textOf(sent, name).trim();
      if (value === '') return null;
      if (value.length > maxLength) throw new RefusedItem(`${name} is longer than ${maxLength} characters`);
      if (!isPlainText(value)) throw new RefusedItem(`${name} holds control characters`);
      return value;
    },
  };
}

/** Control characters other than tab and line feed, and halves of surrogate pairs, cannot be stored or returned as text. */
function isPlainText(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return text.isWellFormed() && !/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/.test(text);
}

function optionalCode<Code extends string>(name: string, codes: readonly Code[]): Field<Code | null> {
  return {
    name,
    parse(sent) {
      const text = textOf(sent, name);
      if (text === '') return null;
      const code = codes.find((candidate) => candidate === text);
      if (code === undefined) throw new RefusedItem(`${name} must be one of ${codes.join(', ')}`);
      return code;
    },
  };
}

function optionalMoment(
  name: string,
  check: (field: string, at: Date, now: Date) => void,
): Field<Date | null> {
  return {
    name,
    parse(sent, { now }) {
      const at = toDate(sent[name] as Timestamp | undefined);
      if (at === null) return null;
      check(name, at, now);
      return at;
    },
  };
}

function date(name: string): Field<string> {
  return {
    name,
    parse(sent) {
      const text = textOf(sent, name);
      if (!isDate(text)) throw new RefusedItem(`${name} must be a date (YYYY-MM-DD)`);
      return text;
    },
  };
}

/** `2019`, `2019-05` or `2019-05-04`. */
function partialDate(name: string): Field<string | null> {
  return {
    name,
    parse(sent) {
      const text = textOf(sent, name);
      if (text === '') return null;
      if (findFirstDay(text) === null) throw new RefusedItem(`${name} must be YYYY, YYYY-MM or YYYY-MM-DD`);
      return text;
    },
  };
}

function resourceType(name: string): Field<string> {
  const text = required(optionalText(name, 64));
  return {
    name,
    parse(sent, context) {
      const type = text.parse(sent, context);
      if (!/^[A-Z][A-Za-z]*$/.test(type)) throw new RefusedItem(`${name} is no FHIR resource type`);
      return type;
    },
  };
}

function parseDateTime(sent: SentFields): { at: Date; offsetMinutes: number } {
  const instant = findInstant(textOf(sent, 'dateTime'));
  if (instant === null) throw new RefusedItem('dateTime must be RFC 3339 with an offset');
  checkNotBefore1900('dateTime', instant.at);
  return instant;
}

function textOf(sent: SentFields, name: string): string {
  const text = sent[name];
  return typeof text === 'string' ? text : '';
}
