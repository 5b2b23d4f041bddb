import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { OBSERVATION_CATEGORY } from '@phds/catalog/fhir/observation-kinds';
import { type Approval, expectStatus, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { useSharedStack } from '@phds/running-system/shared-stack';
import { baseOf } from '../src/fhir-clients.ts';

// What Inferno's suite of US Core 7.0.0 tests and only a whole stack shows.

const stack = await useSharedStack();
const app = await registerApp(stack.gateway, await signIn(stack, 'developer'));
const ada = await signIn(stack, 'ada');
const BASE = baseOf(app);
const OURS = `patient/Observation.rs?category=${BASE}/CodeSystem/category|`;
const HL7 = `patient/Observation.rs?category=${OBSERVATION_CATEGORY}|`;
const EVERYTHING = 'launch/patient offline_access patient/*.rs';

type Parameters = Readonly<Record<string, string>>;

/** The answer of the token endpoint after the person has approved. */
async function connect(scope: string, approval: Approval = {}) {
  const verifier = 'v'.repeat(43);
  const request = {
    aud: BASE,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  };
  const { pending_id: pendingId } = expectStatus(201, await app.authorize([scope], request)).body;
  const { redirectUri } = expectStatus(200, await app.approveAs(ada, pendingId, approval)).body.data;
  const code = new URL(redirectUri).searchParams.get('code') ?? '';
  return expectStatus(200, await app.exchange(code, { code_verifier: verifier })).body;
}

// biome-ignore lint/suspicious/noExplicitAny: resources are compared, not computed with
type Found = any;

let bearer: string;
let patient: string;

const ask = (type: string, parameters: Parameters, token = bearer) =>
  send(`${BASE}/${type}?${new URLSearchParams(parameters)}`, { bearer: token });
const search = async (type: string, parameters: Parameters): Promise<Found[]> =>
  resourcesOf(expectStatus(200, await ask(type, parameters)).body);
const resourcesOf = ({ entry = [] }: Found): Found[] => entry.map(({ resource }: Found) => resource);
const idsOf = (found: readonly Found[]) => found.map(({ id }) => id);

beforeAll(async () => {
  ({ access_token: bearer, patient } = await connect(EVERYTHING));
});

describe('granular scopes', () => {
  const CODES = ['8867-4', '85354-9', '55423-8', '75325-1', '41653-7'];
  /** Searches, and what they find with a token for everything. */
  let known: { readonly parameters: Parameters; readonly all: readonly Found[] }[];
  beforeAll(async () => {
    const categories = ['vital-signs', 'survey', 'activity', 'laboratory'].map((category) => ({ category }));
    const codes = [...CODES, CODES.join(',')].map((code) => ({ code }));
    const searches = [...categories, ...codes].map((one) => ({ patient, _count: '200', ...one }));
    known = await Promise.all(
      searches.map(async (parameters) => ({ parameters, all: await search('Observation', parameters) })),
    );
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
    const answered = await connect(asked, approval);
    expect(answered).toMatchObject({ scope: granted, patient });
    const token = answered.access_token;
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
});
