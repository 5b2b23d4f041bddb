import { Refused } from '../ingest/refused.ts';
import { conceptText, quantityText, rangeText } from './concepts.ts';
import { at, listAt, shorten, textAt } from './json-values.ts';
import { type MappingContext, type Outcome, toHealthRecord } from './outcome.ts';
import { patternOf, timingText } from './timings.ts';

const TEXT_LENGTH = 200;
const NEVER_TAKEN: ReadonlySet<string> = new Set(['cancelled', 'draft', 'not-taken']);

/** Converts a MedicationRequest or MedicationStatement, including stopped ones. */
export function mapMedication(context: MappingContext): readonly Outcome[] {
  const { resource, references } = context;
  if (NEVER_TAKEN.has(textAt(resource, 'status'))) throw new Refused('was cancelled before it was taken');
  if (at(resource, 'doNotPerform') === true) throw new Refused('states not to take the medication');
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
