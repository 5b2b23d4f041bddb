import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import {
  CONDITION_CATEGORY,
  LOINC,
  OBSERVATION_CATEGORY,
  US_CORE,
} from '@phds/catalog/fhir/observation-kinds';
import { type Approval, expectStatus, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send, toBasic } from '@phds/running-system/request';
import { useSharedStack } from '@phds/running-system/shared-stack';
import { baseOf } from '../src/fhir-clients.ts';

// What Inferno's suites of SMART App Launch 2.2 and US Core 7.0.0 test, as far as it applies (docs/operations/smart.md).

const stack = await useSharedStack();
const app = await registerApp(stack.gateway, await signIn(stack, 'developer'));
const ada = await signIn(stack, 'ada');
const BASE = baseOf(app);
const OURS = `patient/Observation.rs?category=${BASE}/CodeSystem/category|`;
const HL7 = `patient/Observation.rs?category=${OBSERVATION_CATEGORY}|`;
const EVERYTHING = 'launch/patient offline_access patient/*.rs';

type Parameters = Readonly<Record<string, string>>;
type Credentials = { readonly form: Parameters; readonly headers: Parameters };

const IN_BODY: Credentials = {
  form: { client_id: app.clientId, client_secret: app.clientSecret },
  headers: {},
};
const BASIC: Credentials = { form: {}, headers: { Authorization: toBasic(app.clientId, app.clientSecret) } };

/** Sends a form to `/oauth/…` as the app. */
async function post(path: string, form: Parameters, as = BASIC) {
  const { headers } = as;
  return expectStatus(
    200,
    await send(`${app.gateway}/oauth/${path}`, { form: { ...form, ...as.form }, headers }),
  );
}

/** The answer of the token endpoint after the person has approved. */
async function connect(scope: string, approval: Approval = {}, as = BASIC) {
  const verifier = 'v'.repeat(43);
  const request = {
    aud: BASE,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  };
  const { pending_id: pendingId } = expectStatus(201, await app.authorize([scope], request)).body;
  const { redirectUri } = expectStatus(200, await app.approveAs(ada, pendingId, approval)).body.data;
  const code = new URL(redirectUri).searchParams.get('code') ?? '';
  const form = { grant_type: 'authorization_code', code, redirect_uri: app.redirectUri };
  return post('token', { ...form, code_verifier: verifier }, as);
}

// biome-ignore lint/suspicious/noExplicitAny: resources are compared, not computed with
type Found = any;

let bearer: string;
let patient: string;

const ask = (type: string, parameters: Parameters, token = bearer) =>
  send(`${BASE}/${type}?${new URLSearchParams(parameters)}`, { bearer: token });
const search = async (type: string, parameters: Parameters): Promise<Found[]> =>
  resourcesOf(expectStatus(200, await ask(type, parameters)).body);
const searchByPost = async (type: string, form: Parameters): Promise<Found[]> =>
  resourcesOf(expectStatus(200, await send(`${BASE}/${type}/_search`, { bearer, form })).body);
const resourcesOf = ({ entry = [] }: Found): Found[] => entry.map(({ resource }: Found) => resource);
const idsOf = (found: readonly Found[]) => found.map(({ id }) => id);
const read = async (reference: string) =>
  expectStatus(200, await send(`${BASE}/${reference}`, { bearer })).body;

beforeAll(async () => {
  ({ access_token: bearer, patient } = (await connect(EVERYTHING)).body);
});

test.each([
  ['with Basic', BASIC],
  ['with the secret in the body', IN_BODY],
])('a client %s gets tokens, refreshes with and without scope, and introspects', async (_, as) => {
  const first = await connect(EVERYTHING, {}, as);
  const refresh = (form = {}) =>
    post('token', { grant_type: 'refresh_token', refresh_token: first.body.refresh_token, ...form }, as);
  for (const answer of [first, await refresh(), await refresh({ scope: first.body.scope })]) {
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('pragma')).toBe('no-cache');
    const expected = { token_type: 'Bearer', expires_in: expect.any(Number), scope: EVERYTHING, patient };
    expect(answer.body).toMatchObject({ ...expected, refresh_token: expect.any(String) });
    const { body } = await post('introspect', { token: answer.body.access_token }, as);
    const known = { active: true, client_id: app.clientId, scope: EVERYTHING, patient };
    expect(body).toMatchObject({ ...known, exp: expect.any(Number) });
  }
  expect((await post('introspect', { token: 'invalid' }, as)).body).toEqual({ active: false });
});

test.each([
  ['us-core-heart-rate', '8867-4'],
  ['us-core-respiratory-rate', '9279-1'],
  ['us-core-body-temperature', '8310-5'],
  ['us-core-pulse-oximetry', '59408-5'],
  ['us-core-body-height', '8302-2'],
  ['us-core-body-weight', '29463-7'],
  ['us-core-bmi', '39156-5'],
  ['us-core-blood-pressure', '85354-9'],
])(
  '%s is found by each form of patient, category, code and date, by GET and POST, and read',
  async (name, code) => {
    const found = await search('Observation', { patient, code });
    const subject = { reference: `Patient/${patient}` };
    for (const one of found) expect(one).toMatchObject({ meta: { profile: [US_CORE + name] }, subject });
    const forms: readonly Parameters[] = [
      { patient: subject.reference, code },
      { patient, code: `${LOINC}|${code}` },
      { patient, code: `0-0,${code}` },
      { patient, category: 'vital-signs', code, status: 'final,amended' },
      { patient, category: `${OBSERVATION_CATEGORY}|vital-signs`, code, date: 'ge1900' },
    ];
    for (const form of forms) expect(await search('Observation', form)).toEqual(found);
    expect(await searchByPost('Observation', { patient, code })).toEqual(found);
    const [{ id, effectiveDateTime, effectivePeriod }] = found;
    const date = `ge${effectiveDateTime ?? effectivePeriod.start}`;
    const ofDate = { patient, category: 'vital-signs', date, _id: id };
    expect(await search('Observation', ofDate)).toEqual([found[0]]);
    expect(await read(`Observation/${id}`)).toEqual(found[0]);
    expect(await read(subject.reference)).toMatchObject({ resourceType: 'Patient', id: patient });
  },
);

test.each([
  ['eq', 0, true],
  ['', 1, false],
  ['ge', 0, true],
  ['ge', 1, false],
  ['gt', -1, true],
  ['gt', 0, false],
  ['le', 0, true],
  ['le', -1, false],
  ['lt', 1, true],
  ['lt', 0, false],
  ['sa', -1, true],
  ['sa', 0, false],
  ['eb', 1, true],
  ['eb', 0, false],
])('an Observation is found by date=%s with its own time and %i s: %p', async (prefix, seconds, isFound) => {
  const found = await search('Observation', { patient, code: '8310-5' });
  const { id, effectiveDateTime } = found.find((one) => one.effectiveDateTime !== undefined);
  const date = prefix + new Date(Date.parse(effectiveDateTime) + seconds * 1000).toISOString();
  const list = await search('Observation', { patient, category: 'vital-signs', date, _id: id });
  expect(idsOf(list)).toEqual(isFound ? [id] : []);
});

const CONDITIONS = { category: `${CONDITION_CATEGORY}|problem-list-item` };

test.each<[string, Parameters, Parameters]>([
  ['Condition', { category: 'problem-list-item' }, { category: 'encounter-diagnosis' }],
  ['Condition', CONDITIONS, { 'clinical-status': 'active' }],
  ['AllergyIntolerance', {}, { 'clinical-status': 'active' }],
  ['MedicationRequest', { intent: 'plan' }, { intent: 'order' }],
  [
    'MedicationRequest',
    { intent: 'order,plan', status: 'active,unknown' },
    { intent: 'plan', status: 'active' },
  ],
])('%s of the patient with %j is found, and with %j not', async (type, same, none) => {
  const all = await search(type, { patient });
  expect(all.length).toBeGreaterThan(0);
  expect(await search(type, { patient: `Patient/${patient}`, ...same })).toEqual(all);
  expect(await searchByPost(type, { patient, ...same })).toEqual(all);
  expect(await search(type, { patient, ...none })).toEqual([]);
  for (const one of all) {
    expect((one.subject ?? one.patient).reference).toBe(`Patient/${patient}`);
    expect(await read(`${type}/${one.id}`)).toEqual(one);
  }
});

test('the Patient has what the profile requires, and is found by id and identifier', async () => {
  const found = await search('Patient', { _id: patient });
  const [{ identifier }] = found;
  const required = { name: [expect.anything()], gender: expect.any(String) };
  expect(found).toMatchObject([
    { id: patient, meta: { profile: [`${US_CORE}us-core-patient`] }, ...required },
  ]);
  const [{ system, value }] = identifier;
  for (const same of [value, `${system}|${value}`]) {
    expect(await search('Patient', { identifier: same })).toEqual(found);
  }
  expect(await search('Patient', { identifier: `http://other.test|${value}` })).toEqual([]);
});

test('every search parameter of the CapabilityStatement finds a resource by its own value', async () => {
  const { body } = await send(`${BASE}/metadata`);
  for (const { type, searchParam } of body.rest[0].resource) {
    const [resource] = await search(type, {});
    const own = valuesOf(resource);
    for (const { name } of searchParam) {
      const list = await search(type, { [name]: own[name] ?? '' });
      // Whether a condition or an allergy is active is not known.
      const expected = name === 'clinical-status' ? [] : expect.arrayContaining([resource.id]);
      expect([type, name, idsOf(list)]).toEqual([type, name, expected]);
    }
  }
});

/** Values of search parameters that the resource has. */
function valuesOf(resource: Found): Readonly<Record<string, string>> {
  const tokenOf = ({ coding: [{ system, code }] }: Found) => `${system}|${code}`;
  const { category, code, effectiveDateTime, effectivePeriod } = resource;
  const time = effectiveDateTime ?? effectivePeriod?.start ?? resource.start ?? resource.date;
  return {
    patient,
    subject: `Patient/${patient}`,
    _id: resource.id,
    ...(category && { category: tokenOf(category[0]) }),
    ...(code?.coding && { code: tokenOf(code), 'combo-code': tokenOf(code) }),
    date: `ge${time}`,
    'effective-time': `ge${time}`,
    'onset-date': resource.onsetDateTime,
    status: resource.status,
    intent: resource.intent,
    identifier: resource.identifier?.[0].value,
    'clinical-status': 'active',
  };
}

describe('granular scopes', () => {
  const CODES = ['8867-4', '85354-9', '55423-8', '75325-1', '41653-7'];
  /** Searches, and what they find with a token for everything. */
  let known: { readonly parameters: Parameters; readonly all: readonly Found[] }[];
  let conditions: Found[];
  beforeAll(async () => {
    const categories = ['vital-signs', 'survey', 'activity', 'laboratory'].map((category) => ({ category }));
    const codes = [...CODES, CODES.join(',')].map((code) => ({ code }));
    const searches = [...categories, ...codes].map((one) => ({ patient, _count: '200', ...one }));
    known = await Promise.all(
      searches.map(async (parameters) => ({ parameters, all: await search('Observation', parameters) })),
    );
    conditions = await search('Condition', { patient });
  });

  const tokensOf = ({ category }: Found): string[] =>
    category.flatMap(({ coding }: Found) => coding.map(({ system, code }: Found) => `${system}|${code}`));

  // The approval of some narrows the grant, and with it the token for everything.
  test.each([
    ['as asked', `${HL7}vital-signs ${HL7}survey`, {}, `${HL7}vital-signs ${HL7}survey`],
    ['of one kind', `${OURS}heart`, {}, `${OURS}heart`],
    [
      'narrower after a partial approval',
      `${HL7}vital-signs ${HL7}survey`,
      { scopes: ['read:health-data:heart', 'read:mood'] },
      `${OURS}heart ${OURS}mood`,
    ],
  ])('%s open what they name and nothing else', async (_, asked, approval, granted) => {
    const { body } = await connect(asked, approval);
    expect(body).toMatchObject({ scope: granted, patient });
    const token = body.access_token;
    const named = granted.split(' ').map((word) => word.slice(word.indexOf('=') + 1));
    const isOpen = (one: Found) => tokensOf(one).some((each) => named.includes(each));
    const statuses = new Set<number>();
    for (const { parameters, all } of known) {
      const answer = await ask('Observation', parameters, token);
      statuses.add(answer.status);
      if (answer.status === 403) expect(all.filter(isOpen)).toEqual([]);
      else {
        const found = resourcesOf(expectStatus(200, answer).body);
        expect(found.filter((one) => !isOpen(one))).toEqual([]);
        expect(idsOf(found)).toEqual(expect.arrayContaining(idsOf(all.filter(isOpen))));
      }
      const closed = all.find((one) => !isOpen(one));
      if (closed) expect([403, 404]).toContain((await ask(`Observation/${closed.id}`, {}, token)).status);
    }
    expect([...statuses].toSorted()).toEqual([200, 403]);
    expect((await ask('Condition', { patient }, token)).status).toBe(403);
  });

  test('of the category of all Conditions open them', async () => {
    const scope = `patient/Condition.rs?category=${CONDITIONS.category}`;
    const { body } = await connect(scope);
    expect(body.scope).toBe(scope);
    const answer = await ask('Condition', CONDITIONS, body.access_token);
    expect(resourcesOf(answer.body)).toEqual(conditions);
    expect((await ask('AllergyIntolerance', {}, body.access_token)).status).toBe(403);
  });
});
