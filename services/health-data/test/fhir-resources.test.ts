import { afterEach, describe, expect, test } from '@jest/globals';
import { CONDITION_CATEGORY } from '@phds/catalog/fhir/observation-kinds';
import { FHIR_TYPES, type FhirType } from '@phds/catalog/fhir/resource-types';
import { SCOPE_NAMES } from '@phds/catalog/scopes';
import { askFor, BASE, nextOf, PATIENT, type Resource, readById, resourcesOf, search } from './fhir.ts';
import { reading, reasonOf, refusalOf, shareHarness } from './harness.ts';
import { fillOneOfEach } from './one-of-each.ts';

const harness = await shareHarness();
await fillOneOfEach(harness, 'ada');
await harness.ingestion.putProfile({ userId: 'ada', gender: 'female', bloodType: 'AB-' });
await fillOneOfEach(harness, 'grace');
afterEach(() => harness.consent.forget());

const HEART = 'read:health-data:heart';

const shown = async (userId: string, type: FhirType, query = ''): Promise<Resource[]> =>
  resourcesOf(await search(harness, type, query, { userId }));

describe.each(FHIR_TYPES)('%s', (type) => {
  test('each resource of a search is read by its id, and the record names the scope of that one', async () => {
    const resources = resourcesOf(await search(harness, type));
    expect(resources).toHaveLength(type === 'Observation' ? 5 : 1);
    harness.consent.forget();
    for (const resource of resources) {
      expect(await shown('ada', type, `_id=${resource.id}`)).toEqual([resource]);
      expect(await readById(harness, type, resource.id)).toEqual(resource);
      if (type !== 'Patient') expect(JSON.stringify(resource)).toContain(`"reference":"Patient/${PATIENT}"`);
      const record = harness.consent.accesses.at(-1);
      expect(record).toMatchObject({ endpoint: `/fhir/R4/${type}/{id}`, recordCount: 1, page: 1 });
      expect(SCOPE_NAMES).toContain(record?.scope);
    }
  });

  test('has other ids for another app; those, unknown ones and those of another person are not found, and recorded', async () => {
    const idsFor = async (token: object) =>
      resourcesOf(await search(harness, type, '', token)).map(({ id }) => id);
    const own = await idsFor({});
    const others = await idsFor({ clientId: 'app_two', sub: 'sub_two' });
    const foreign = type === 'Patient' ? [] : await idsFor({ userId: 'grace', sub: 'sub_grace' });
    expect(own.filter((id) => others.includes(id))).toEqual([]);
    const unknown = own.map((id) => `${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}`);
    harness.consent.forget();
    const asked = [...others, ...foreign, ...unknown, 'x', `rdg-${'v'.repeat(52)}`];
    for (const id of asked) expect(await reasonOf(readById(harness, type, id))).toBe('not_found');
    expect(harness.consent.accesses).toHaveLength(asked.length);
    expect(new Set(harness.consent.accesses.map(({ recordCount }) => recordCount))).toEqual(new Set([0]));
  });

  test('of another person is an empty Bundle, which is recorded', async () => {
    const query = type === 'Patient' ? '_id=pat-other' : 'patient=Patient/pat-other';
    const bundle = await search(harness, type, query);
    expect(bundle.entry).toBeUndefined();
    expect(harness.consent.accesses).toMatchObject([{ endpoint: `/fhir/R4/${type}`, recordCount: 0 }]);
    expect(resourcesOf(await search(harness, type, query.replace('pat-other', PATIENT)))).not.toEqual([]);
  });
});

describe('what a request is judged by', () => {
  const about = (changes: object) => harness.about('ada', changes);

  test.each([
    ['no scope', '', 'Observation'],
    ['a scope of other data', 'read:ehr', 'Observation'],
    ['a scope of other data besides', `${HEART} read:ehr`, 'Observation'],
    ['an unknown scope', 'read:everything', 'Patient'],
  ])('%s is refused', async (_, scope, type) => {
    expect(await refusalOf(askFor(harness, { type }, scope, await about({})))).toMatchObject({
      reason: 'invalid_request',
      message: 'scope: does not open this request',
    });
    expect(harness.consent.accesses).toEqual([]);
  });

  test('a scope that the token lacks is refused', async () => {
    const asked = askFor(
      harness,
      { type: 'Observation' },
      `${HEART} read:mood`,
      await about({ scopes: [HEART] }),
    );
    expect(await refusalOf(asked)).toMatchObject({
      reason: 'insufficient_scope',
      requiredScope: 'read:mood',
    });
    expect(harness.consent.accesses).toEqual([]);
  });

  test('an app that does not know the person as anybody is told to come again', async () => {
    expect(await reasonOf(search(harness, 'Patient', '', { sub: null }))).toBe('unavailable');
  });

  test('a bad parameter and an unknown type are refused', async () => {
    const bad = { type: 'Observation', parameters: [['datum', '2026']] as const };
    expect(await refusalOf(askFor(harness, bad, HEART, await about({})))).toMatchObject({
      reason: 'invalid_request',
      violations: [{ parameter: 'datum' }],
    });
    expect(await reasonOf(askFor(harness, { type: 'Goal' }, HEART, await about({})))).toBe('not_found');
    expect(await reasonOf(askFor(harness, { type: 'Observation', id: 'a_b' }, HEART, await about({})))).toBe(
      'not_found',
    );
    expect(harness.consent.accesses).toEqual([]);
  });

  test('some of the scopes find what they open, and the link and the record name them in catalog order', async () => {
    const bundle = await search(harness, 'Observation', '', { scopes: ['read:mood', HEART, 'read:weight'] });
    expect(
      resourcesOf(bundle)
        .map(({ code }) => code.text)
        .sort(),
    ).toEqual(['Heart Rate', 'Mood', 'Weight']);
    const [self] = bundle.link;
    const category = new URL(self?.url ?? '').searchParams.get('category');
    expect(category?.split(',').map((token) => token.split('|')[1])).toEqual(['heart', 'weight', 'mood']);
    expect(harness.consent.accesses).toMatchObject([
      { scope: `${HEART} read:weight read:mood`, endpoint: '/fhir/R4/Observation', recordCount: 3 },
    ]);
  });

  test('a cursor fails as expired, and is recorded, when a scope of its search is no longer judged', async () => {
    const scopes = [HEART, 'read:mood', 'read:symptoms'];
    const next = nextOf(await search(harness, 'Observation', '_count=1', { scopes })) ?? '';
    harness.consent.forget();
    expect(await reasonOf(search(harness, 'Observation', next, { scopes: [HEART] }))).toBe('cursor_expired');
    expect(harness.consent.accesses).toMatchObject([{ scope: HEART, recordCount: 0 }]);
    // More scopes do not change the search.
    const rest = resourcesOf(
      await search(harness, 'Observation', `${next}&_count=9`, { scopes: SCOPE_NAMES }),
    );
    expect(rest).toHaveLength(2);
    expect(harness.consent.accesses.at(-1)?.scope).toBe(`${HEART} read:symptoms read:mood`);
  });

  test('a cursor works only for its app, person and search', async () => {
    const next = nextOf(await search(harness, 'Observation', '_count=1')) ?? '';
    const others = [
      search(harness, 'Observation', next, { clientId: 'app_two' }),
      search(harness, 'Observation', next, { userId: 'grace' }),
      search(harness, 'Observation', `${next}&date=2026`),
      search(harness, 'Observation', '_cursor=x'),
    ];
    for (const other of others) {
      expect(await refusalOf(other)).toMatchObject({
        reason: 'invalid_request',
        violations: [{ parameter: '_cursor' }],
      });
    }
    expect(resourcesOf(await search(harness, 'Observation', next))).toHaveLength(1);
  });
});

describe('a resource has all that is stored', () => {
  const START = '2026-01-02T10:00:00Z';
  const quantity = (value: number, unit: string) => ({
    value,
    unit,
    code: unit,
    system: 'http://unitsofmeasure.org',
  });
  const absent = {
    coding: [{ system: 'http://terminology.hl7.org/CodeSystem/data-absent-reason', code: 'unknown' }],
  };

  test('as a blood pressure of two readings with the same times and source, or of one without the other', async () => {
    const end = '2026-01-02T10:00:30Z';
    const half = (type: string, value: number, rest: object) => reading(type, START, value, rest);
    await harness.putReadings('edith', [
      half('Blood Pressure', 120, { end }),
      half('BP Diastolic', 80, { end }),
      half('Blood Pressure', 121, {}),
      half('BP Diastolic', 81, { source: 'cuff' }),
    ]);
    const found = await shown('edith', 'Observation');
    const valuesOf = ({ component }: Resource) =>
      component.map(({ code, valueQuantity, dataAbsentReason }: Resource) => [
        code.coding[0].code,
        valueQuantity ?? dataAbsentReason,
      ]);
    const pairs = found.map((one) => [one.effectivePeriod?.end ?? one.device.display, valuesOf(one)]);
    expect(Object.fromEntries(pairs)).toEqual({
      '2026-01-02T10:00:30.000Z': [
        ['8480-6', quantity(120, 'mm[Hg]')],
        ['8462-4', quantity(80, 'mm[Hg]')],
      ],
      'apple-watch': [
        ['8480-6', quantity(121, 'mm[Hg]')],
        ['8462-4', absent],
      ],
      cuff: [
        ['8480-6', absent],
        ['8462-4', quantity(81, 'mm[Hg]')],
      ],
    });
    expect(found).toHaveLength(3);
    const { id } = found.find(({ device }) => device.display === 'cuff');
    expect(await readById(harness, 'Observation', id, { userId: 'edith' })).toMatchObject({ id });
    await harness.putReadings('edith', [half('Blood Pressure', 122, { source: 'cuff' })]);
    const { component } = await readById(harness, 'Observation', id, { userId: 'edith' });
    expect(component[0].valueQuantity.value).toBe(122);
  });

  test('as a reading with its source, its period, its codes and an unknown value', async () => {
    await harness.putReadings('alan', [
      { ...reading('ECG', START, 0), value: undefined as unknown as number },
      reading('Sleep', START, 42.5, { end: '2026-01-02T10:42:30Z' }),
      reading('Glucose', START, 99, { source: 'ehr' }),
      reading('Glucose', START, 98.5, { source: 'meter' }),
    ]);
    const found = await shown('alan', 'Observation');
    const by = (name: string) => found.filter(({ code }) => code.text === name);
    expect(by('ECG')).toMatchObject([{ dataAbsentReason: absent, device: { display: 'apple-watch' } }]);
    expect(by('Sleep')).toMatchObject([
      {
        effectivePeriod: { start: '2026-01-02T10:00:00.000Z', end: '2026-01-02T10:42:30.000Z' },
        valueQuantity: quantity(42.5, 'min'),
        subject: { reference: `Patient/${PATIENT}` },
        status: 'final',
      },
    ]);
    const codes = by('Glucose').map(({ device, code }) => [device.display, code.coding.length]);
    expect(Object.fromEntries(codes)).toEqual({ ehr: 1, meter: 2 });
    const byLoinc = await shown('alan', 'Observation', 'code=41653-7&_total=accurate');
    expect(byLoinc.map(({ device }) => device.display)).toEqual(['meter']);
    expect(await shown('alan', 'Observation', 'code=glucose')).toHaveLength(2);
  });

  test('but beyond 10,000 readings counted only if all of their types are asked for', async () => {
    await harness.owner.query(
      `INSERT INTO reading (user_id, id, type, category, start_at, end_at, value, source, change_number)
       SELECT 'blaise', gen_random_uuid(), 'steps', 'activity', at, at, 1, 'iphone', 1
       FROM (SELECT timestamptz '2025-12-31T23:59:59Z' + n * interval '1 s' AS at FROM generate_series(0, 10000) AS n) AS placed`,
    );
    await harness.owner.query(
      `INSERT INTO reading_count (user_id, type, span, start_at, count)
       SELECT user_id, type, 'all', '-infinity', count(*) FROM reading WHERE user_id = 'blaise' GROUP BY 1, 2`,
    );
    const count = (query: string) => search(harness, 'Observation', query, { userId: 'blaise' });
    expect(await count('_count=0')).toMatchObject({ total: 10_001 });
    expect(await count('category=activity&_total=accurate&_count=1')).toMatchObject({ total: 10_001 });
    expect(await count('date=ge2026&_summary=count')).toMatchObject({ total: 10_000 });
    expect(await count('date=ge2025&_total=accurate&_count=1')).toEqual(
      expect.not.objectContaining({ total: expect.anything() }),
    );
    expect(await refusalOf(count('date=ge2025&_count=0'))).toMatchObject({
      message: '_count: finds more than 10000 readings; narrow the search',
    });
  });
});

test('a condition is not claimed to be active', async () => {
  const [condition] = await shown('ada', 'Condition');
  expect(condition.clinicalStatus.coding).toBeUndefined();
});

test.each<[FhirType, string, string]>([
  ['Condition', 'category=problem-list-item', 'category=encounter-diagnosis'],
  ['Condition', `category=${CONDITION_CATEGORY}|problem-list-item`, 'clinical-status=active'],
  ['AllergyIntolerance', '', 'clinical-status=active'],
  ['MedicationRequest', 'intent=plan', 'intent=order'],
  ['MedicationRequest', 'intent=order,plan&status=active,unknown', 'intent=plan&status=active'],
  ['Condition', `subject=Patient/${PATIENT}`, 'subject=Patient/pat-other'],
  ['Appointment', 'status=booked', 'status=noshow'],
  ['DiagnosticReport', 'status=final', 'status=amended'],
  ['DocumentReference', 'status=current', 'status=superseded'],
  ['Patient', 'identifier=sub_test', 'identifier=sub_other'],
  ['Patient', `identifier=${BASE}/sub|sub_test`, 'identifier=http://other.test|sub_test'],
])('a search of %s finds it with %j, and not with %j', async (type, same, other) => {
  expect(await shown('ada', type, same)).toHaveLength(1);
  expect(await shown('ada', type, other)).toEqual([]);
});
