import { findInstant, isDate } from '@phds/catalog/instants';
import { ADHERENCE_STATUSES, MEDICATION_PATTERNS, MOODS, SEVERITIES } from '@phds/catalog/wire-names';
import { findFirstDay } from './dates.ts';
import type { HealthRecordDraftTypes, StandingFactDraft } from './health-record-drafts.ts';
import type { HealthRecordKind, HealthRecordTypes, StandingFact } from './health-records.ts';
import { checkMoment, checkNotBefore1900, RefusedItem } from './refusal.ts';

/** Context that a check may need besides the record. */
export interface IntakeContext {
  readonly now: Date;
  /** The row id of another record of the same user and source. */
  readonly rowIdOf: (kind: HealthRecordKind, key: string) => string;
}

type Parser<Kind extends HealthRecordKind> = (
  draft: HealthRecordDraftTypes[Kind],
  context: IntakeContext,
) => HealthRecordTypes[Kind];

const NAME_MAX = 200;
const TEXT_MAX = 500;
const LONG_TEXT_MAX = 4_000;

/** Validates one record of a kind. Each parser throws RefusedItem with the reason. */
export const HEALTH_RECORD_PARSERS: { readonly [Kind in HealthRecordKind]: Parser<Kind> } = {
  symptom: (draft, { now }) => ({
    description: requiredText('description', draft.description, TEXT_MAX),
    severity: optionalCode('severity', draft.severity, SEVERITIES),
    occurredAt: pastMoment('timestamp', draft.timestamp, now),
  }),
  medication: (draft) => {
    const name = requiredText('name', draft.name, NAME_MAX);
    return {
      name,
      sortName: name.toLowerCase(),
      dosage: optionalText('dosage', draft.dosage, NAME_MAX),
      frequency: optionalText('frequency', draft.frequency, NAME_MAX),
      condition: optionalText('condition', draft.condition, NAME_MAX),
      pattern: optionalCode('pattern', draft.pattern, MEDICATION_PATTERNS),
    };
  },
  'adherence-entry': (draft, { now, rowIdOf }) => {
    const medicationKey = requiredText('medicationKey', draft.medicationKey, NAME_MAX);
    const { scheduledAt, takenAt } = draft;
    if (scheduledAt !== null) checkNotBefore1900('scheduledAt', scheduledAt);
    if (takenAt !== null) checkMoment('takenAt', takenAt, now);
    const at = scheduledAt ?? takenAt;
    if (at === null) throw new RefusedItem('scheduledAt and takenAt are both missing');
    return {
      medicationId: rowIdOf('medication', medicationKey),
      at,
      scheduledAt,
      status: requiredCode('status', draft.status, ADHERENCE_STATUSES),
      takenAt,
      dose: optionalText('dose', draft.dose, NAME_MAX),
      reason: optionalText('reason', draft.reason, TEXT_MAX),
    };
  },
  condition: parseStandingFact,
  allergy: parseStandingFact,
  appointment: (draft) => {
    const instant = findInstant(draft.dateTime);
    if (instant === null) throw new RefusedItem('dateTime must be RFC 3339 with an offset');
    checkNotBefore1900('dateTime', instant.at);
    return {
      title: requiredText('title', draft.title, NAME_MAX),
      startsAt: instant.at,
      offsetMinutes: instant.offsetMinutes,
      specialty: optionalText('specialty', draft.specialty, NAME_MAX),
      location: optionalText('location', draft.location, TEXT_MAX),
    };
  },
  'mood-entry': (draft, { now }) => ({
    mood: requiredCode('mood', draft.mood, MOODS),
    note: optionalText('note', draft.note, LONG_TEXT_MAX),
    occurredAt: pastMoment('timestamp', draft.timestamp, now),
  }),
  report: (draft, { now }) => {
    const rangeFrom = dateOf('from', draft.from);
    const rangeTo = dateOf('to', draft.to);
    if (rangeTo < rangeFrom) throw new RefusedItem('to is before from');
    return {
      generatedAt: pastMoment('generatedAt', draft.generatedAt, now),
      rangeFrom,
      rangeTo,
      summary: requiredText('summary', draft.summary, LONG_TEXT_MAX),
    };
  },
  'ehr-record': (draft, { now }) => {
    const resourceType = requiredText('resourceType', draft.resourceType, 64);
    if (!/^[A-Z][A-Za-z]*$/.test(resourceType))
      throw new RefusedItem('resourceType is no FHIR resource type');
    return {
      resourceType,
      summary: requiredText('summary', draft.summary, TEXT_MAX),
      occurredAt: pastMoment('timestamp', draft.timestamp, now),
    };
  },
};

function parseStandingFact(draft: StandingFactDraft): StandingFact {
  const { sinceDate } = draft;
  const firstDay = sinceDate === '' ? null : findFirstDay(sinceDate);
  if (sinceDate !== '' && firstDay === null) {
    throw new RefusedItem('sinceDate must be YYYY, YYYY-MM or YYYY-MM-DD');
  }
  return {
    name: requiredText('name', draft.name, NAME_MAX),
    severity: optionalCode('severity', draft.severity, SEVERITIES),
    sinceDate: sinceDate === '' ? null : sinceDate,
    sinceOn: firstDay === null ? null : new Date(`${firstDay}T00:00:00Z`),
  };
}

function requiredText(field: string, text: string, maxLength: number): string {
  const value = optionalText(field, text, maxLength);
  if (value === null) throw new RefusedItem(`${field} is missing`);
  return value;
}

function optionalText(field: string, text: string, maxLength: number): string | null {
  const value = text.trim();
  if (value === '') return null;
  if (value.length > maxLength) throw new RefusedItem(`${field} is longer than ${maxLength} characters`);
  if (!isPlainText(value)) throw new RefusedItem(`${field} holds control characters`);
  return value;
}

/** Control characters other than tab and line feed, and halves of surrogate pairs, cannot be stored or returned as text. */
function isPlainText(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is searched
  return text.isWellFormed() && !/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/.test(text);
}

function requiredCode<Code extends string>(field: string, text: string, codes: readonly Code[]): Code {
  const code = optionalCode(field, text, codes);
  if (code === null) throw new RefusedItem(`${field} is missing`);
  return code;
}

function optionalCode<Code extends string>(field: string, text: string, codes: readonly Code[]): Code | null {
  if (text === '') return null;
  const code = codes.find((candidate) => candidate === text);
  if (code === undefined) throw new RefusedItem(`${field} must be one of ${codes.join(', ')}`);
  return code;
}

function pastMoment(field: string, at: Date | null, now: Date): Date {
  if (at === null) throw new RefusedItem(`${field} is missing`);
  checkMoment(field, at, now);
  return at;
}

function dateOf(field: string, text: string): Date {
  if (!isDate(text)) throw new RefusedItem(`${field} must be a date (YYYY-MM-DD)`);
  return new Date(`${text}T00:00:00Z`);
}
