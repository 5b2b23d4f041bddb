import { describe, expect, test } from '@jest/globals';
import { FakeClock } from '@phds/test-kit/fake-clock';
import { z } from 'zod';
import { readConfig } from '../src/settings/config.ts';
import { requireStepUpCriterion, sessionSettings } from '../src/settings/settings.ts';
import { createStepUp, STEP_UP_ACTIONS } from '../src/trust/step-up.ts';

const clock = new FakeClock();
const ALL = { actions: STEP_UP_ACTIONS, maxAgeSeconds: null, acr: [], clock };

const signedIn = (secondsAgo: number | null, acr: string | null = null) => ({
  authTime: secondsAgo === null ? null : new Date(clock.now().getTime() - secondsAgo * 1000),
  acr,
});

const REQUIRED = { reason: 'step_up_required' };

describe.each(STEP_UP_ACTIONS)('%s', (action) => {
  test('needs no new sign-in unless the settings name it', () => {
    const others = STEP_UP_ACTIONS.filter((name) => name !== action);
    for (const actions of [[], others]) {
      const stepUp = createStepUp({ ...ALL, actions, maxAgeSeconds: 60, acr: ['gold'] });
      expect(stepUp.findRefusal(action, signedIn(null))).toBeNull();
      expect(() => stepUp.check(action, signedIn(null))).not.toThrow();
    }
  });

  test.each([
    ['this moment', 0, null],
    ['within the maximum age', 300, null],
    ['within a minute beyond it, which clocks may differ', 360, null],
    ['before that', 361, REQUIRED],
    ['a year ago', 365 * 86_400, REQUIRED],
    ['a minute ahead of the clock of this service', -60, null],
    ['in a future that no clock explains', -61, REQUIRED],
    ['at an unknown time', null, REQUIRED],
  ])('with a maximum age, for a person who signed in %s', (_, secondsAgo, expected) => {
    const stepUp = createStepUp({ ...ALL, maxAgeSeconds: 300 });
    const refusal = stepUp.findRefusal(action, signedIn(secondsAgo));
    if (expected === null) expect(refusal).toBeNull();
    else expect(refusal).toMatchObject(expected);
  });

  test.each([
    ['one accepted acr', 'gold', null],
    ['another accepted acr', 'urn:example:phr', null],
    ['another acr', 'silver', REQUIRED],
    ['an acr in other letters', 'GOLD', REQUIRED],
    ['the list as its acr', 'gold,urn:example:phr', REQUIRED],
    ['no acr', null, REQUIRED],
  ])('with a list of acr, for a session with %s', (_, acr, expected) => {
    const stepUp = createStepUp({ ...ALL, acr: ['gold', 'urn:example:phr'] });
    const refusal = stepUp.findRefusal(action, signedIn(null, acr));
    if (expected === null) expect(refusal).toBeNull();
    else expect(refusal).toMatchObject(expected);
  });

  test('with both, needs both', () => {
    const stepUp = createStepUp({ ...ALL, maxAgeSeconds: 300, acr: ['gold'] });
    expect(stepUp.findRefusal(action, signedIn(10, 'gold'))).toBeNull();
    for (const session of [
      signedIn(10),
      signedIn(10, 'silver'),
      signedIn(999, 'gold'),
      signedIn(null, 'gold'),
    ]) {
      expect(() => stepUp.check(action, session)).toThrow(expect.objectContaining(REQUIRED));
    }
  });
});

test('right after the sign-in, services whose clocks differ by seconds agree that it is recent', () => {
  const authTime = new Date('2026-03-01T12:00:00Z');
  for (const secondsOff of [-10, -1, 0, 1, 10, 59]) {
    const ours = new FakeClock(new Date(authTime.getTime() + secondsOff * 1000));
    const stepUp = createStepUp({ ...ALL, maxAgeSeconds: 60, clock: ours });
    expect(stepUp.findRefusal('preview', { authTime, acr: null })).toBeNull();
  }
});

test.each([
  [{ maxAgeSeconds: 300 }, 'This needs a sign-in at most 300 seconds old. Sign in again.'],
  [{ acr: ['gold', 'phr'] }, 'This needs a sign-in with acr gold or phr. Sign in again.'],
  [
    { maxAgeSeconds: 60, acr: ['gold'] },
    'This needs a sign-in at most 60 seconds old with acr gold. Sign in again.',
  ],
])('the error of %j says what the sign-in needs', (criteria, message) => {
  const stepUp = createStepUp({ ...ALL, ...criteria });
  expect(stepUp.findRefusal('preview', signedIn(null))).toMatchObject({ message });
});

describe('the settings', () => {
  const schema = z.object(sessionSettings).superRefine(requireStepUpCriterion);
  const required = {
    SESSION_ISSUER: 'https://id.example',
    SESSION_AUDIENCE: 'phds',
    SESSION_JWKS: '{"keys":[{}]}',
  };
  const read = (env: Record<string, string>) => readConfig(schema, { ...required, ...env });

  test('are off by default', () => {
    expect(read({})).toMatchObject({ STEP_UP_FOR: [], STEP_UP_ACR: [] });
    expect(read({}).STEP_UP_MAX_AGE_SECONDS).toBeUndefined();
  });

  test('name actions, an age and values of acr', () => {
    const env = {
      STEP_UP_FOR: 'preview, secret-rotation,sensitive-approval',
      STEP_UP_MAX_AGE_SECONDS: '300',
      STEP_UP_ACR: 'gold, phr',
    };
    expect(read(env)).toMatchObject({
      STEP_UP_FOR: ['preview', 'secret-rotation', 'sensitive-approval'],
      STEP_UP_MAX_AGE_SECONDS: 300,
      STEP_UP_ACR: ['gold', 'phr'],
    });
  });

  test.each([
    ['an unknown action', { STEP_UP_FOR: 'approval', STEP_UP_ACR: 'gold' }, /STEP_UP_FOR.*must name only/],
    ['actions without a criterion', { STEP_UP_FOR: 'preview' }, /STEP_UP_FOR: needs STEP_UP_MAX_AGE_SECONDS/],
    ['an age below a minute', { STEP_UP_MAX_AGE_SECONDS: '59' }, /STEP_UP_MAX_AGE_SECONDS/],
    ['an age above a day', { STEP_UP_MAX_AGE_SECONDS: '86401' }, /STEP_UP_MAX_AGE_SECONDS/],
    ['an age that is no number', { STEP_UP_MAX_AGE_SECONDS: '5m' }, /STEP_UP_MAX_AGE_SECONDS/],
    ['a list with a gap', { STEP_UP_ACR: 'gold,' }, /STEP_UP_ACR/],
  ])('refuse %s', (_, env, problem) => {
    expect(() => read(env)).toThrow(problem);
  });
});
