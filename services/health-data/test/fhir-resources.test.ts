import { afterEach, describe, expect, test } from '@jest/globals';
import { SCOPE_NAMES } from '@phds/catalog/scopes';
import { askFor, FHIR_TYPES, nextOf, PATIENT, type Resource, readById, resourcesOf, search } from './fhir.ts';
import { at, reading, reasonOf, refusalOf, shareHarness } from './harness.ts';
import { fillOneOfEach } from './one-of-each.ts';

const harness = await shareHarness();
await fillOneOfEach(harness, 'ada');
await harness.ingestion.putProfile({ userId: 'ada', gender: 'female', bloodType: 'AB-' });
await fillOneOfEach(harness, 'grace');
afterEach(() => harness.consent.forget());

const HEART = 'read:health-data:heart';

describe.each(FHIR_TYPES)('%s', (type) => {
  test('each resource of a search is read by its id, and the record names the scope of that one', async () => {
    const resources = resourcesOf(await search(harness, type));
    expect(resources).toHaveLength(type === 'Observation' ? 5 : 1);
    harness.consent.forget();
    for (const resource of resources) {
      expect(await readById(harness, type, resource.id)).toEqual(resource);
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
  const shown = async (userId: string, type: (typeof FHIR_TYPES)[number], query = ''): Promise<Resource[]> =>
    resourcesOf(await search(harness, type, query, { userId }));
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
    const bundle = await search(harness, 'Observation', '_summary=count', { userId: 'edith' });
    expect(bundle).toMatchObject({ total: 3 });
    expect(bundle.entry).toBeUndefined();
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
    expect(
      await search(harness, 'Observation', 'code=41653-7&_summary=count', { userId: 'alan' }),
    ).toMatchObject({ total: 1 });
  });

  test('but not counted beyond 10,000 readings', async () => {
    await harness.owner.query(
      `INSERT INTO reading (user_id, id, type, category, start_at, end_at, value, source)
       SELECT 'blaise', gen_random_uuid(), 'steps', 'activity', at, at, 1, 'iphone'
       FROM (SELECT timestamptz '2025-12-31T23:59:59Z' + n * interval '1 s' AS at FROM generate_series(0, 10000) AS n) AS placed`,
    );
    const count = (query: string) => search(harness, 'Observation', query, { userId: 'blaise' });
    expect(await count('date=ge2026&_summary=count')).toMatchObject({ total: 10_000 });
    expect(await count('_total=accurate&_count=1')).toEqual(
      expect.not.objectContaining({ total: expect.anything() }),
    );
    expect(await refusalOf(count('_count=0'))).toMatchObject({
      message: '_summary: finds more than 10000 readings; narrow the search',
    });
  });

  test('as records and a profile', async () => {
    const userId = 'rosalind';
    const timestamp = at(START);
    await harness.ingestion.putProfile({
      userId,
      name: 'R',
      gender: 'female',
      dateOfBirth: '1920-07-25',
      bloodType: 'O+',
    });
    const medication = { name: 'M', dosage: '5 mg', frequency: 'twice', condition: 'C', pattern: 'BID' };
    const dose = { medicationKey: 'm', scheduledAt: timestamp };
    await harness.putHealthRecords(userId, [
      {
        key: 's',
        source: 'ehr',
        record: { case: 'symptom', value: { description: '"ow"', severity: 'severe', timestamp } },
      },
      {
        key: 'o',
        source: 'ehr',
        record: { case: 'moodEntry', value: { mood: 'pleasant', note: 'N', timestamp } },
      },
      { key: 'm', source: 'ehr', record: { case: 'medication', value: medication } },
      { key: 'p', source: 'ehr', record: { case: 'medication', value: { name: 'P', pattern: 'PRN' } } },
      {
        key: 't',
        source: 'ehr',
        record: {
          case: 'adherenceEntry',
          value: { ...dose, status: 'taken', takenAt: at('2026-01-02T11:00:00Z'), dose: '2' },
        },
      },
      {
        key: 'k',
        source: 'ehr',
        record: { case: 'adherenceEntry', value: { ...dose, status: 'skipped', reason: 'ill' } },
      },
      { key: 'w', source: 'ehr', record: { case: 'adherenceEntry', value: { ...dose, status: 'pending' } } },
      {
        key: 'c',
        source: 'ehr',
        record: { case: 'condition', value: { name: 'C', severity: 'mild', sinceDate: '2019-05' } },
      },
      { key: 'a', source: 'ehr', record: { case: 'allergy', value: { name: 'A', severity: 'moderate' } } },
      {
        key: 'v',
        source: 'ehr',
        record: {
          case: 'appointment',
          value: { title: 'T', dateTime: '2026-05-02T10:00:00+02:00', specialty: 'S', location: 'L' },
        },
      },
    ]);
    expect(await shown(userId, 'Patient')).toMatchObject([
      {
        identifier: [{ value: 'sub_test' }],
        name: [{ text: 'R' }],
        gender: 'female',
        birthDate: '1920-07-25',
      },
    ]);
    const [symptom] = await shown(userId, 'Observation', 'code=75325-1');
    expect(symptom).toMatchObject({
      valueString: '"ow"',
      component: [{ valueCodeableConcept: { coding: [{ code: '24484000' }] } }],
    });
    const [mood] = await shown(userId, 'Observation', 'code=mood');
    expect(mood).toMatchObject({ valueString: 'pleasant', note: [{ text: 'N' }] });
    expect(await shown(userId, 'Observation', 'code=882-1')).toMatchObject([
      { valueCodeableConcept: { text: 'O+' } },
    ]);
    const requests = await shown(userId, 'MedicationRequest');
    const request = requests.find(({ medicationCodeableConcept }) => medicationCodeableConcept.text === 'M');
    expect(request).toMatchObject({
      dosageInstruction: [{ text: '5 mg', timing: { code: { coding: [{ code: 'BID' }], text: 'twice' } } }],
      reasonCode: [{ text: 'C' }],
    });
    expect(requests).toContainEqual(
      expect.objectContaining({ dosageInstruction: [{ asNeededBoolean: true }] }),
    );
    const medicine = {
      medicationCodeableConcept: { text: 'M' },
      request: { reference: `MedicationRequest/${request.id}` },
    };
    expect(await shown(userId, 'MedicationAdministration')).toMatchObject([
      {
        ...medicine,
        status: 'completed',
        effectiveDateTime: '2026-01-02T11:00:00.000Z',
        dosage: { text: '2' },
      },
      { ...medicine, status: 'not-done', statusReason: [{ text: 'skipped' }, { text: 'ill' }] },
    ]);
    expect(await shown(userId, 'MedicationAdministration', 'status=not-done')).toHaveLength(1);
    const [condition] = await shown(userId, 'Condition');
    expect(condition).toMatchObject({
      onsetDateTime: '2019-05',
      severity: { coding: [{ code: '255604002' }] },
    });
    expect(condition.clinicalStatus.coding).toBeUndefined();
    expect(await shown(userId, 'Condition', 'clinical-status=active')).toEqual([]);
    expect(await shown(userId, 'AllergyIntolerance')).toMatchObject([
      { reaction: [{ severity: 'moderate' }] },
    ]);
    expect(await shown(userId, 'Appointment')).toMatchObject([
      {
        description: 'T',
        start: '2026-05-02T10:00:00+02:00',
        specialty: [{ text: 'S' }],
        participant: [{ actor: { reference: `Patient/${PATIENT}` } }, { actor: { display: 'L' } }],
      },
    ]);
  });
});
