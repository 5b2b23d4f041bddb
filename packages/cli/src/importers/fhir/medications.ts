import { MEDICATION_PATTERNS, type MedicationPattern } from '@phds/catalog/wire-names';
import { Refused } from '../ingest/importer.ts';
import { conceptText, quantityText, rangeText } from './concepts.ts';
import { at, isObject, type JsonObject, listAt, numberAt, shorten, textAt } from './json-values.ts';
import { type MappingContext, type Outcome, toHealthRecord } from './outcome.ts';

/** The frequency of a rhythm. */
interface Rhythm {
  readonly times: number;
  readonly period: number;
  /** UCUM unit, as in FHIR: s, min, h, d, wk, mo, a. */
  readonly unit: string;
}

const TIMES_A_DAY: readonly MedicationPattern[] = ['QD', 'BID', 'TID', 'QID'];
const EVERY_HOURS: ReadonlyMap<number, MedicationPattern> = new Map([
  [1, 'Q1H'],
  [2, 'Q2H'],
  [3, 'Q3H'],
  [4, 'Q4H'],
  [6, 'Q6H'],
  [8, 'Q8H'],
  [12, 'BID'],
  [24, 'QD'],
  [48, 'QOD'],
  [168, 'WK'],
]);
// FHIR R4 EventTiming: every morning, every afternoon, at bedtime.
const MOMENTS: ReadonlyMap<string, MedicationPattern> = new Map([
  ['MORN', 'AM'],
  ['AFT', 'PM'],
  ['HS', 'BED'],
]);

/** The pattern of a Dosage (FHIR timing abbreviation, PRN, OTHER); empty if it has no rhythm. */
function patternOf(dosage: unknown): MedicationPattern | '' {
  if (isAsNeeded(dosage)) return 'PRN';
  const timing = at(dosage, 'timing');
  for (const coding of listAt(timing, 'code', 'coding')) {
    const pattern = MEDICATION_PATTERNS.find((known) => known === textAt(coding, 'code').toUpperCase());
    if (pattern !== undefined) return pattern;
  }
  const repeat = at(timing, 'repeat');
  if (isObject(repeat) && saysHowOften(repeat)) return patternOfRepeat(repeat);
  return at(timing, 'code') === undefined ? '' : 'OTHER';
}

function isAsNeeded(dosage: unknown): boolean {
  return at(dosage, 'asNeededBoolean') === true || at(dosage, 'asNeededCodeableConcept') !== undefined;
}

function saysHowOften(repeat: JsonObject): boolean {
  return ['frequency', 'period', 'when', 'dayOfWeek', 'timeOfDay'].some((member) =>
    Object.hasOwn(repeat, member),
  );
}

function patternOfRepeat(repeat: JsonObject): MedicationPattern {
  if (['frequencyMax', 'periodMax'].some((member) => Object.hasOwn(repeat, member))) return 'OTHER';
  if (listAt(repeat, 'dayOfWeek').length > 0) {
    return listAt(repeat, 'dayOfWeek').length === 1 && timesADay(repeat) === 1 ? 'WK' : 'OTHER';
  }
  const [moment, ...others] = listAt(repeat, 'when');
  const named = others.length === 0 ? MOMENTS.get(String(moment)) : undefined;
  const rhythm = rhythmOf(repeat);
  if (named !== undefined && rhythm.times === 1 && rhythm.period === 1 && rhythm.unit === 'd') return named;
  return patternOfRhythm(rhythm);
}

function timesADay(repeat: JsonObject): number {
  const listed = Math.max(listAt(repeat, 'when').length, listAt(repeat, 'timeOfDay').length);
  return numberAt(repeat, 'frequency') ?? Math.max(listed, 1);
}

function rhythmOf(repeat: JsonObject): Rhythm {
  return {
    times: timesADay(repeat),
    period: numberAt(repeat, 'period') ?? 1,
    unit: textAt(repeat, 'periodUnit') || 'd',
  };
}

function patternOfRhythm({ times, period, unit }: Rhythm): MedicationPattern {
  if (unit === 'mo') return times === 1 && period === 1 ? 'MO' : 'OTHER';
  const hours = HOURS_IN.get(unit);
  if (hours === undefined || times <= 0) return 'OTHER';
  if (unit === 'd' && period === 1) return TIMES_A_DAY[times - 1] ?? 'OTHER';
  return EVERY_HOURS.get((hours * period) / times) ?? 'OTHER';
}

const HOURS_IN: ReadonlyMap<string, number> = new Map([
  ['min', 1 / 60],
  ['h', 1],
  ['d', 24],
  ['wk', 168],
]);

const UNIT_WORDS: ReadonlyMap<string, string> = new Map([
  ['s', 'second'],
  ['min', 'minute'],
  ['h', 'hour'],
  ['d', 'day'],
  ['wk', 'week'],
  ['mo', 'month'],
  ['a', 'year'],
]);

/** The rhythm of a Dosage as text, such as `2 times a day` or `every 6 hours as needed`; empty if it has none. */
function timingText(dosage: unknown): string {
  const repeat = at(dosage, 'timing', 'repeat');
  const rhythm = isObject(repeat) && saysHowOften(repeat) ? rhythmText(rhythmOf(repeat)) : '';
  const words = rhythm || conceptText(at(dosage, 'timing', 'code'));
  if (!isAsNeeded(dosage)) return words;
  return words === '' ? 'as needed' : `${words} as needed`;
}

function rhythmText({ times, period, unit }: Rhythm): string {
  const word = UNIT_WORDS.get(unit);
  if (word === undefined) return '';
  if (times === 1) return period === 1 ? `once ${articleFor(word)} ${word}` : `every ${period} ${word}s`;
  return period === 1
    ? `${times} times ${articleFor(word)} ${word}`
    : `${times} times every ${period} ${word}s`;
}

function articleFor(word: string): string {
  return word === 'hour' ? 'an' : 'a';
}

const TEXT_LENGTH = 200;
const NEVER_TAKEN: ReadonlySet<string> = new Set(['cancelled', 'draft', 'not-taken']);

/** Converts a MedicationRequest or MedicationStatement, including stopped ones. */
export function mapMedication(context: MappingContext): readonly Outcome[] {
  const { resource, references } = context;
  if (NEVER_TAKEN.has(textAt(resource, 'status'))) throw new Refused('was cancelled before it was taken');
  const name =
    conceptText(at(resource, 'medicationCodeableConcept')) ||
    shorten(references.nameOf(at(resource, 'medicationReference'), resource), TEXT_LENGTH);
  if (name === '') throw new Refused('name is missing');
  const instructions = [...listAt(resource, 'dosageInstruction'), ...listAt(resource, 'dosage')];
  const value = { name, ...dosingOf(instructions), condition: reasonOf(context) };
  return [toHealthRecord(context, 'medication', { case: 'medication', value })];
}

function reasonOf({ resource, references }: MappingContext): string {
  const reason =
    conceptText(at(resource, 'reasonCode', 0)) ||
    references.nameOf(at(resource, 'reasonReference', 0), resource);
  return shorten(reason, TEXT_LENGTH);
}

interface Dosing {
  readonly dosage: string;
  readonly frequency: string;
  readonly pattern: string;
}

/** The first instruction as text. If a later one has a different rhythm, the pattern is OTHER. */
function dosingOf(instructions: readonly unknown[]): Dosing {
  const [first] = instructions;
  if (first === undefined) return { dosage: '', frequency: '', pattern: '' };
  const words = textAt(first, 'text') || textAt(first, 'patientInstruction');
  const dose = doseText(first);
  const frequency = timingText(first);
  const patterns = new Set(instructions.map(patternOf));
  return {
    dosage: shorten(dose || words, TEXT_LENGTH),
    // Without a structured rhythm, the text apart from the dose is used as the frequency.
    frequency: shorten(frequency || (dose === '' ? '' : words), TEXT_LENGTH),
    pattern: patterns.size === 1 ? patternOf(first) : 'OTHER',
  };
}

function doseText(instruction: unknown): string {
  const dose: unknown = at(instruction, 'doseAndRate', 0);
  const texts = [quantityText(at(dose, 'doseQuantity')), rangeText(at(dose, 'doseRange')), ratePart(dose)];
  return texts.find((text) => text !== '') ?? '';
}

function ratePart(dose: unknown): string {
  const rate = quantityText(at(dose, 'rateQuantity'));
  return rate === '' ? rangeText(at(dose, 'rateRange')) : rate;
}
