import { expect, test } from '@jest/globals';
import { OBSERVATION_CATEGORY } from '@phds/catalog/fhir/observation-kinds';
import { registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { useSharedStack } from '@phds/running-system/shared-stack';
import { Browser } from '../src/browser.ts';
import { expectFhirLife } from '../src/fhir-client-life.ts';
import { baseOf, FHIR_CLIENTS } from '../src/fhir-clients.ts';

interface Observation {
  readonly id: string;
  readonly category: readonly { readonly coding: readonly { readonly code: string }[] }[];
}

const stack = await useSharedStack();

// fhir-clients.proof.ts plays the same without a secret, and with the others.
test('fhirclient, unmodified and with a secret, connects, reads all pages of each type, refreshes, is narrowed and ended', async () =>
  expectFhirLife(stack, FHIR_CLIENTS.fhirclient));

test('scopes of categories open the Observations that the person has approved among them, and nothing else', async () => {
  const app = await registerApp(stack.gateway, await signIn(stack, 'developer'));
  const person = new Browser(await signIn(stack, 'ada'));
  const [heart, mood] = ['read:health-data:heart', 'read:mood'] as const;
  const connect = (scope: string, share: readonly string[]) =>
    FHIR_CLIENTS.fhirclient(app, `launch/patient ${scope}`, (url) => person.decide(url, { share }));
  const scopesOf = (system: string, ...codes: string[]) =>
    codes.map((code) => `patient/Observation.rs?category=${system}|${code}`).join(' ');
  const whole = await connect('patient/Observation.rs', [heart, 'read:health-data:sleep', mood]);
  const all = (await whole.all('Observation')) as unknown as Observation[];

  const asked = scopesOf(OBSERVATION_CATEGORY, 'vital-signs', 'survey');
  const session = await connect(asked, [heart, mood]);
  expect(session.scope).toBe(
    `launch/patient ${scopesOf(`${baseOf(app)}/CodeSystem/category`, 'heart', 'mood')}`,
  );
  const found = await session.all('Observation');
  const isApproved = ({ category }: Observation) =>
    category.some(({ coding }) => coding.some(({ code }) => code === 'heart' || code === 'mood'));
  const [approved, others] = [all.filter(isApproved), all.filter((one) => !isApproved(one))];
  expect(approved.length).toBeGreaterThan(0);
  expect(found.map(({ id }) => id)).toEqual(approved.map(({ id }) => id));
  expect(others.length).toBeGreaterThan(0);
  await expect(session.read('Observation', others[0]?.id ?? '')).rejects.toThrow();
  await expect(session.all('Condition')).rejects.toThrow();
});
