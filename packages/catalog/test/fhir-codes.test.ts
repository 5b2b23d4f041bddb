import { describe, expect, test } from '@jest/globals';
import {
  BLOOD_PRESSURE_COMPONENTS,
  OBSERVATION_KINDS,
  OBSERVATION_SCOPES,
} from '../src/fhir/observation-kinds.ts';
import { FHIR_TYPES, type FhirType, fhirTypeOf } from '../src/fhir/resource-types.ts';
import { isNewestSearch, parseSearch } from '../src/fhir/search.ts';
import { METRICS } from '../src/metrics.ts';
import { SCOPE_NAMES } from '../src/scopes.ts';

const published = OBSERVATION_KINDS.flatMap((kind) => kind.published);
const accepted = OBSERVATION_KINDS.flatMap((kind) => kind.accepted);
const CODES = [...new Set([...published, ...accepted, ...Object.values(BLOOD_PRESSURE_COMPONENTS)])];

/** The check digit of LOINC (Users' Guide, appendix C): modulus 10, the last digit and every second before it doubled. */
function toCheckDigit(number: string): number {
  const digits = [...number].reverse().map((digit, place) => Number(digit) * (place % 2 === 0 ? 2 : 1));
  const sum = digits.reduce((total, digit) => total + (digit > 9 ? digit - 9 : digit), 0);
  return (10 - (sum % 10)) % 10;
}

test.each(CODES)('%s has the check digit of LOINC', (code) => {
  const [, number = '', digit] = /^(\d{1,7})-(\d)$/.exec(code) ?? [];
  expect(Number(digit)).toBe(toCheckDigit(number));
});

describe('the kinds of Observations', () => {
  test('have each published code once, but for kinds that differ only in our own', () => {
    const twice = published.filter((code, index) => published.indexOf(code) !== index);
    expect(twice.sort()).toEqual(['29463-7', '9279-1']);
    expect(accepted.filter((code) => published.includes(code))).toEqual([]);
  });

  test('publish the codes of the metric types; a blood pressure is its panel with both as components', () => {
    for (const { key, loinc } of METRICS) {
      const kind = OBSERVATION_KINDS.find((one) => one.key === key);
      const codes =
        key in BLOOD_PRESSURE_COMPONENTS ? Object.values(BLOOD_PRESSURE_COMPONENTS) : kind?.published;
      if (loinc !== null) expect([key, codes]).toEqual([key, expect.arrayContaining([loinc])]);
    }
  });

  test('are opened by scopes of the catalog, which every type has', () => {
    for (const type of FHIR_TYPES)
      expect(SCOPE_NAMES).toEqual(expect.arrayContaining([...fhirTypeOf(type).scopes]));
    expect(new Set(OBSERVATION_KINDS.map(({ scope }) => scope))).toEqual(new Set(OBSERVATION_SCOPES));
  });
});

test.each<[FhirType, string, object]>([
  ['Observation', 'status=http://hl7.org/fhir/observation-status|final', { isEmpty: false }],
  [
    'MedicationRequest',
    'intent=http://hl7.org/fhir/CodeSystem/medicationrequest-intent|plan',
    { isEmpty: false },
  ],
  ['Condition', 'category=http://other.test|problem-list-item', { isEmpty: true }],
  ['Observation', '_count=0&_summary=false', { countOnly: true }],
])('a search for %s with %s has %j', (type, query, search) => {
  expect(parseSearch(type, [...new URLSearchParams(query)], '')).toMatchObject({ search });
});

const OWN = 'https://phds.example/fhir/R4/CodeSystem';

/** Whether it is a newest search. */
function judge(type: FhirType, query: string): boolean {
  const parsed = parseSearch(type, [...new URLSearchParams(query)], 'https://phds.example/fhir/R4');
  if (!('search' in parsed)) throw new Error(JSON.stringify(parsed.problems));
  return isNewestSearch(parsed.search);
}

test.each<[string, boolean]>([
  ['code=8867-4', true],
  [`code=${OWN}/metric|heart-rate&_count=100&patient=pat-1&_sort=-date`, true],
  [`category=${OWN}/category|heart`, true],
  [`category=${OWN}/category|blood-pressure`, true],
  ['code=85354-9', true],
  // Two of five types.
  ['code=8867-4,80404-7', false],
  ['category=vital-signs', false],
  ['', false],
  // Those of laboratories, which are skipped, have another code.
  ['code=41653-7', false],
  [`code=${OWN}/metric|glucose`, true],
  // No readings.
  ['code=75325-1', false],
  // The weights of days as well.
  ['code=29463-7', false],
  ['code=8867-4&_count=101', false],
  ['code=8867-4&date=ge2026', false],
  ['code=8867-4&_cursor=a', false],
  ['code=8867-4&_id=rdg-1', false],
  ['code=8867-4&_total=accurate', false],
  ['code=8867-4&_summary=count', false],
  ['code=8867-4&status=amended', false],
])('whether a search for Observations with %s is a newest search: %j', (query, isNewest) => {
  expect(judge('Observation', query)).toBe(isNewest);
});

test('a search for anything but Observations is not a newest search', () => {
  expect(FHIR_TYPES.filter((type) => type !== 'Observation' && judge(type, ''))).toEqual([]);
});
