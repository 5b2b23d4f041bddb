import { expect } from '@jest/globals';
import { FHIR_TYPES } from '@phds/catalog/fhir/resource-types';
import { SCOPE_NAMES } from '@phds/catalog/scopes';
import {
  type AppSettings,
  expectStatus,
  type PartnerApp,
  registerApp,
} from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import type { SharedStack } from '@phds/running-system/shared-stack';
import { Browser } from './browser.ts';
import { baseOf, type Connect, type Session } from './fhir-clients.ts';

const EVERYTHING = 'launch/patient offline_access patient/*.rs';
const OPENED = SCOPE_NAMES.filter((scope) => scope !== 'read:aggregations' && scope !== 'read:trends');

async function readAll(session: Session) {
  const lists = await Promise.all(FHIR_TYPES.map(async (type) => [type, await session.all(type)] as const));
  return new Map(lists);
}

/** A client connects, reads all pages of each type, refreshes, is narrowed and ended. */
export async function expectFhirLife(
  stack: SharedStack,
  connect: Connect,
  settings: AppSettings = {},
): Promise<void> {
  const app = await registerApp(stack.gateway, await signIn(stack, 'developer'), settings);
  const person = new Browser(await signIn(stack, 'ada'));
  const decide = (url: string) => person.decide(url, { share: OPENED });
  const session = await connect(app, EVERYTHING, decide);
  expect(session.scope.split(' ').toSorted()).toEqual(EVERYTHING.split(' ').toSorted());
  const before = await readAll(session);
  for (const [type, resources] of before) {
    expect(resources.length).toBeGreaterThan(0);
    expect(new Set(resources.map(({ id }) => id)).size).toBe(resources.length);
    expect(resources.every(({ resourceType }) => resourceType === type)).toBe(true);
  }
  expect(before.get('Patient')).toMatchObject([{ id: session.patient }]);
  const [{ id = '' } = {}] = before.get('Condition') ?? [];
  expect(await session.read('Condition', id)).toMatchObject({ resourceType: 'Condition', id });

  const token = session.accessToken();
  await session.refresh();
  expect(session.accessToken()).not.toBe(token);
  expect(await session.all('Condition')).toEqual(before.get('Condition'));

  const grants = `${stack.gateway}/partner/consent/grants`;
  const bearer = await signIn(stack, 'ada');
  const listed = expectStatus(200, await send(`${grants}?status=active&pageSize=100`, { bearer }));
  const ofApp = ({ app: { clientId } }: { app: PartnerApp }) => clientId === app.clientId;
  const { id: grantId } = listed.body.data.find(ofApp);
  const scopes = OPENED.filter((scope) => scope !== 'read:conditions');
  expectStatus(200, await send(`${grants}/${grantId}`, { method: 'PATCH', bearer, json: { scopes } }));
  await expect(session.all('Condition')).rejects.toThrow();
  expect(await session.all('Patient')).toHaveLength(1);

  expectStatus(200, await send(`${grants}/${grantId}`, { method: 'DELETE', bearer }));
  await expect(session.all('Patient')).rejects.toThrow();
  const answer = await send(`${baseOf(app)}/Patient`, { bearer: session.accessToken() });
  expect(answer.status).toBe(401);
}
