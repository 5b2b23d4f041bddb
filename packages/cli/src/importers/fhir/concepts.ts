import { at, isObject, listAt, numberAt, shorten, textAt } from './json-values.ts';

/** Code systems, by the identifiers used in R4 files. */
export const LOINC = ['http://loinc.org', 'urn:oid:2.16.840.1.113883.6.1'] as const;
export const SNOMED = ['http://snomed.info/sct', 'urn:oid:2.16.840.1.113883.6.96'] as const;
/** Without a system, a code of a quantity is one of UCUM. */
const UCUM = ['', 'http://unitsofmeasure.org', 'urn:oid:2.16.840.1.113883.6.8'];

const CONCEPT_LENGTH = 200;

/** A CodeableConcept as text: its text, else the display of a coding, else a code; at most 200 characters. */
export function conceptText(concept: unknown): string {
  const texts = [textAt(concept, 'text')];
  for (const coding of listAt(concept, 'coding')) texts.push(textAt(coding, 'display'));
  for (const coding of listAt(concept, 'coding')) texts.push(textAt(coding, 'code'));
  return shorten(texts.find((text) => text !== '') ?? '', CONCEPT_LENGTH);
}

/** The texts of several CodeableConcepts, without duplicates. */
export function conceptTexts(concepts: readonly unknown[]): string[] {
  return [...new Set(concepts.map(conceptText).filter((text) => text !== ''))];
}

/** The codes of a CodeableConcept in one code system. */
export function codesOf(concept: unknown, systems: readonly string[]): string[] {
  return listAt(concept, 'coding')
    .filter((coding) => systems.includes(textAt(coding, 'system')))
    .map((coding) => textAt(coding, 'code'));
}

// HL7's International Patient Summary: every code states that nothing is known, or that there is nothing.
const ABSENT_OR_UNKNOWN = 'http://hl7.org/fhir/uv/ips/CodeSystem/absent-unknown';
// SNOMED: no known allergy, also of a kind; no current problems; no known drug therapy, also the Australian code.
const NOTHING_KNOWN: ReadonlySet<string> = new Set(
  (
    '716186003 160244002 409137002 429625007 428607008 716184000 1003774007 428197003 ' +
    '160245001 787481004 1234391000168107'
  ).split(' '),
);
const NOTHING_KNOWN_TEXT =
  /^(?:(?:no|nil|none)[ -](?:known|current|information)\b|no-[a-z]+-info$|NK[DFM]?A\b)|\bnot on file$|\bnot asked$/i;

/** Whether a CodeableConcept stands where a condition, allergy, medication and so on is expected, and states that none is known. */
export function statesAbsence(concept: unknown): boolean {
  const codings = listAt(concept, 'coding');
  const texts = [concept, ...codings].flatMap((each) => [textAt(each, 'text'), textAt(each, 'display')]);
  return (
    codings.some((coding) => textAt(coding, 'system').startsWith(ABSENT_OR_UNKNOWN)) ||
    codesOf(concept, SNOMED).some((code) => NOTHING_KNOWN.has(code)) ||
    texts.some((text) => NOTHING_KNOWN_TEXT.test(text))
  );
}

/** Formats a number for people: integers unchanged, others with four significant digits. */
export function numberText(value: number): string {
  if (Number.isInteger(value)) return String(value);
  const wholeDigits = Math.trunc(Math.abs(value)).toFixed(0).length;
  return String(Number(value.toPrecision(Math.min(100, Math.max(4, wholeDigits + 1)))));
}

/** The UCUM code of a Quantity; empty if it has none, or one of another system. */
export function ucumCodeOf(quantity: unknown): string {
  return UCUM.includes(textAt(quantity, 'system')) ? textAt(quantity, 'code') : '';
}

/** A Quantity as text, such as `5.9 %` or `<10 mg/dL`; empty without a number. */
export function quantityText(quantity: unknown): string {
  const value = numberAt(quantity, 'value');
  if (value === null) return '';
  const comparator = textAt(quantity, 'comparator');
  const unit = textAt(quantity, 'unit') || ucumCodeOf(quantity);
  // In UCUM a unit that consists only of braces, such as {score}, means that there is no unit.
  const shown = /^\{[^{}]*\}$/.test(unit) || unit === '1' ? '' : unit;
  return `${comparator}${numberText(value)}${shown === '' ? '' : ` ${shown}`}`;
}

/** A Range as text, such as `1–2 tablets`. */
export function rangeText(range: unknown): string {
  const [low, high] = [numberAt(range, 'low', 'value'), quantityText(at(range, 'high'))];
  if (low === null) return high === '' ? '' : `up to ${high}`;
  return high === '' ? `from ${quantityText(at(range, 'low'))}` : `${numberText(low)}–${high}`;
}

/** The value[x] of an Observation or component as text; empty if there is none. */
export function valueText(holder: unknown): string {
  if (!isObject(holder)) return '';
  const integer = numberAt(holder, 'valueInteger');
  const texts = [
    quantityText(at(holder, 'valueQuantity')),
    conceptText(at(holder, 'valueCodeableConcept')),
    textAt(holder, 'valueString'),
    yesOrNo(at(holder, 'valueBoolean')),
    integer === null ? '' : String(integer),
    rangeText(at(holder, 'valueRange')),
    ratioText(at(holder, 'valueRatio')),
    textAt(holder, 'valueDateTime').slice(0, 10),
    textAt(holder, 'valueTime'),
    textAt(holder, 'valuePeriod', 'start').slice(0, 10),
    at(holder, 'valueSampledData') === undefined ? '' : 'recorded signal',
  ];
  return texts.find((text) => text !== '') ?? '';
}

function yesOrNo(value: unknown): string {
  if (typeof value !== 'boolean') return '';
  return value ? 'yes' : 'no';
}

function ratioText(ratio: unknown): string {
  const [numerator, denominator] = [
    quantityText(at(ratio, 'numerator')),
    quantityText(at(ratio, 'denominator')),
  ];
  return numerator === '' || denominator === '' ? '' : `${numerator} / ${denominator}`;
}
