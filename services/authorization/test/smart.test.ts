import { describe, expect, test } from '@jest/globals';
import {
  codeOf,
  createPkce,
  HEART,
  ISSUER,
  REDIRECT_URI,
  reasonOf,
  refusalOf,
  SLEEP,
  shareHarness,
} from './harness.ts';

const harness = await shareHarness();

const BASE = `${ISSUER}/fhir/R4`;
const MOOD = 'read:mood';
const PROFILE = 'read:profile';
const OURS = `patient/Observation.rs?category=${BASE}/CodeSystem/category|`;
const CONTEXT = 'launch/patient offline_access';

const { verifier, challenge } = createPkce();
const PKCE = { codeChallenge: challenge, codeChallengeMethod: 'S256' };

const app = await harness.registerApp({ scopes: [HEART, SLEEP, MOOD, PROFILE, 'read:trends'] });

const open = (scope: string, more: object = {}) =>
  harness.authorizations.openAuthorization({
    client: app,
    redirectUri: REDIRECT_URI,
    scope,
    aud: BASE,
    ...PKCE,
    ...more,
  });
const shownFor = async (scope: string, more: object = {}) => {
  const { pendingId } = await open(scope, more);
  return harness.consent.pending.get(pendingId)?.request;
};

/** The tokens after the person has approved these scopes; all without. */
async function start(scope: string, { approved, more = {} }: { approved?: string[]; more?: object } = {}) {
  const { pendingId } = await open(scope, more);
  const decision = approved === undefined ? { allRequested: true } : { scopes: approved };
  const done = await harness.authorizations.completeAuthorization(
    { pendingId, expiresInDays: 90, ...decision },
    await harness.as('ada'),
  );
  return harness.exchange(app, codeOf(done.redirectUri), { codeVerifier: verifier });
}

const introspect = (token: string) => harness.tokens.introspectOwnToken({ client: app, token });
const lastGrant = () => [...harness.consent.grants.values()].at(-1)!;

describe('a request with words of SMART', () => {
  test('shows the person the scopes that they mean and the app has registered', async () => {
    expect((await shownFor('launch/patient openid patient/*.rs'))?.scopes).toEqual([
      HEART,
      SLEEP,
      MOOD,
      PROFILE,
    ]);
    const mixed = {
      scope: `${OURS}heart read:trends patient/Patient.read`,
    };
    const shown = await shownFor(mixed.scope, mixed);
    expect(shown).toMatchObject({ scopes: [HEART, 'read:trends', PROFILE] });
  });

  test.each([
    ['with a slash at the end of aud', 'patient/Patient.rs', { aud: `${BASE}/` }],
    ['with aud and only names', HEART, {}],
    [
      'with only names, without aud and PKCE',
      `${HEART} offline_access openid`,
      { aud: '', codeChallenge: '', codeChallengeMethod: '' },
    ],
  ])('is accepted %s', async (_, scope, more) => {
    expect((await open(scope, more)).pendingId).toMatch(/^apr_/);
  });

  test.each([
    ['aud', 'patient/Patient.rs', { aud: '' }],
    ['aud', 'patient/Patient.rs', { aud: `${ISSUER}/fhir` }],
    ['aud', `${HEART} launch/patient`, { aud: '' }],
    ['aud', HEART, { aud: 'https://other.test/fhir/R4' }],
    ['code_challenge', 'patient/Patient.rs', { codeChallenge: '', codeChallengeMethod: '' }],
  ])('is refused for its %s: %s with %j', async (parameter, scope, more) => {
    const { reason, violations } = await refusalOf(open(scope, more));
    expect([reason, violations.map((violation) => violation.parameter)]).toEqual([
      'invalid_request',
      [parameter],
    ]);
  });

  test('from a browser names a wrong aud to the app', async () => {
    const client = { clientId: app.clientId };
    const { errorRedirect } = await open('patient/Patient.rs', {
      aud: 'x',
      client,
      frontChannel: true,
      state: 's',
    });
    const { searchParams } = new URL(errorRedirect);
    expect(searchParams.get('error')).toBe('invalid_request');
    expect(searchParams.get('error_description')).toContain(`aud: must be ${BASE}`);
  });

  test.each([
    ['launch patient/Patient.rs', "Unknown scope: 'launch'."],
    ['patient/Patient.everything', "Unknown scope: 'patient/Patient.everything'."],
    ['openid user/*.read patient/Patient.write', 'At least one scope of data is needed.'],
    [CONTEXT, 'At least one scope of data is needed.'],
    ['patient/Condition.rs read:ehr', 'Not registered for the app: patient/Condition.rs.'],
  ])('is an invalid_scope: %s', async (scope, message) => {
    expect(await refusalOf(open(scope))).toMatchObject({ reason: 'invalid_scope', message });
  });

  test('keeps no more than there are words, however long it is', async () => {
    const many = Array.from({ length: 5_000 }, (_, index) => `user/Type${'x'.repeat(index % 90)}.rs`);
    const { pendingId } = await open(`${many.join(' ')} patient/Patient.rs patient/Patient.r`);
    const owner = await harness.connect();
    const { rows } = await owner.query(
      'SELECT asked_words FROM authorization_request WHERE pending_id = $1',
      [pendingId],
    );
    expect(rows).toEqual([{ asked_words: ['patient/Patient.rs'] }]);
  });
});

describe('tokens that were asked for with words of SMART', () => {
  const patientOf = ({ sub }: { sub: string }) => sub.replace('sub_', 'pat-');
  const scopesOf = async (token: string) => (await harness.introspect(token)).principal?.scopes;

  test('name the patient, have the words that work in scope, and stay tokens of scopes', async () => {
    const issued = await start(`${CONTEXT} patient/*.rs`);
    expect(issued).toMatchObject({ scope: `${CONTEXT} patient/*.rs`, patient: patientOf(issued) });
    expect(issued.patient).toMatch(/^pat-[0-9a-f]{22}$/);
    expect(await scopesOf(issued.accessToken)).toEqual([HEART, SLEEP, MOOD, PROFILE]);
  });

  test('name narrower words for what the person has approved, also when that changes', async () => {
    const scope = `${CONTEXT} patient/Observation.rs patient/Patient.read`;
    const more = { includeGrantedScopes: 'true' };
    const first = await start(scope, { approved: [HEART, PROFILE], more });
    expect(first.scope).toBe(`${CONTEXT} ${OURS}heart patient/Patient.read`);
    lastGrant().scopes = [SLEEP, 'read:trends'];
    const second = await harness.refresh(app, first.refreshToken);
    expect(second).toMatchObject({ scope: `${CONTEXT} ${OURS}sleep read:trends`, patient: first.patient });
    const repeated = await harness.refresh(app, first.refreshToken);
    expect([repeated.scope, repeated.accessToken]).toEqual([second.scope, second.accessToken]);
  });

  test.each([
    ['words', `${OURS}heart offline_access`, `${OURS}heart offline_access`],
    ['names', HEART, `${CONTEXT} ${OURS}heart`],
  ])('can be refreshed with %s that are narrower', async (_, named, scope) => {
    const first = await start(`${CONTEXT} patient/Observation.rs`);
    const second = await harness.refresh(app, first.refreshToken, named);
    expect([second.scope, second.patient]).toEqual([scope, first.patient]);
    expect(await scopesOf(second.accessToken)).toEqual([HEART]);
    const third = await harness.refresh(app, second.refreshToken);
    expect(await scopesOf(third.accessToken)).toEqual([HEART, SLEEP, MOOD]);
  });

  test.each(['launch', 'patient/Condition.rs', 'patient/Patient.rs', 'offline_access', 'openid'])(
    'cannot be refreshed with %s, which is unknown, not shared or no data',
    async (scope) => {
      const first = await start('patient/Observation.rs');
      expect(await reasonOf(harness.refresh(app, first.refreshToken, scope))).toBe('invalid_scope');
      expect((await harness.refresh(app, first.refreshToken)).patient).toBe(first.patient);
    },
  );

  test('have the same words and patient in introspection', async () => {
    const { refreshToken, ...first } = await start(`patient/Observation.rs ${CONTEXT}`, { approved: [MOOD] });
    const scope = `${OURS}mood ${CONTEXT}`;
    const second = await harness.refresh(app, refreshToken);
    for (const token of [first.accessToken, second.accessToken, second.refreshToken]) {
      expect(await introspect(token)).toMatchObject({
        active: true,
        scope,
        patient: first.patient,
        clientId: app.clientId,
        expiresAt: expect.anything(),
      });
    }
    lastGrant().scopes = [];
    expect(await introspect(second.accessToken)).toMatchObject({ active: false, scope: '', patient: '' });
  });

  test('name no patient if only names were asked for, and return offline_access', async () => {
    const first = await start(`${MOOD} offline_access ${HEART}`);
    expect(first).toMatchObject({ scope: `${MOOD} offline_access ${HEART}`, patient: '' });
    const plain = await start(`${MOOD} ${HEART}`);
    expect(plain).toMatchObject({ scope: `${HEART} ${MOOD}`, patient: '' });
    expect((await harness.refresh(app, plain.refreshToken)).patient).toBe('');
  });
});
