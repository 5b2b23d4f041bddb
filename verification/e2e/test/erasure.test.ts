import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { expectStatus, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { type RunningStack, startRunningStack } from '@phds/running-system/running-stack';
import {
  type ConnectedPerson,
  connectPerson,
  HEART_PATH,
  useEverything,
} from '@phds/running-system/working-system';
import { eventually } from '@phds/test-kit/conditions';
import pg from 'pg';
import { runAsOperator } from '../src/operator-command.ts';

const PERSON = 'person-to-erase';

let stack: RunningStack;
let database: pg.Client;
let person: ConnectedPerson;
let otherPerson: ConnectedPerson;

/** Tables of all services that contain the person's id. */
async function findTraces(): Promise<string[]> {
  const { rows } = await database.query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
     WHERE schemaname IN ('authorization', 'consent', 'consent_audit', 'health_data')`,
  );
  const found: string[] = [];
  for (const { name } of rows) {
    const { rowCount } = await database.query(`SELECT 1 FROM ${name} t WHERE t::text LIKE $1 LIMIT 1`, [
      `%${PERSON}%`,
    ]);
    if (rowCount !== 0) found.push(name);
  }
  return found;
}

const erase = (...more: string[]) =>
  runAsOperator(stack, ['erase', '--user', PERSON, '--confirm', PERSON, ...more]);

beforeAll(async () => {
  stack = await startRunningStack({ redis: false });
  const { pathname } = new URL(stack.databases.consent.url);
  const url = new URL(stack.adminDatabaseUrl);
  url.pathname = pathname;
  database = new pg.Client({ connectionString: url.href });
  await database.connect();
  // An app of another developer: the person's own apps are removed with the person.
  const app = await registerApp(stack.gateway, await signIn(stack, 'developer'));
  person = { ...(await connectPerson(stack, PERSON)), app };
  person.tokens = await app.connect(person.session, ['read:health-data:heart', 'read:profile']);
  otherPerson = await connectPerson(stack, 'other-person');
  await useEverything(person);
});
afterAll(async () => {
  await database?.end();
  await stack?.[Symbol.asyncDispose]();
});

test('a person is removed from every service, and a repeated run completes an interrupted one', async () => {
  expect((await findTraces()).length).toBeGreaterThan(5);
  expect(await erase()).toMatchObject({ code: 1, errors: expect.stringContaining('owns 1 apps') });
  expectStatus(200, await person.app.read(person.tokens.accessToken, HEART_PATH));

  await stack.processes.get('health-data')?.stop();
  const cutShort = await erase('--revoke-apps');
  expect(cutShort).toMatchObject({ code: 1, errors: expect.stringContaining('run it again') });
  expect(cutShort.document.removed).toMatchObject({ authorization: { apps: 1 }, consent: { grants: 2 } });
  await stack.processes.get('health-data')?.start();

  expect(await erase('--revoke-apps')).toMatchObject({ code: 0, errors: '' });
  expect(await findTraces()).toEqual([]);
  // The gateway reconnects to health-data after a while; until then, a 503 says nothing about the person.
  await eventually(() => useEverything(otherPerson), { intervalMs: 100 });
  expectStatus(401, await person.app.read(person.tokens.accessToken, HEART_PATH));
  expect(await erase()).toMatchObject({ code: 0 });
});

test('a person is not erased without confirmation', async () => {
  const args = ['erase', '--user', 'other-person', '--confirm', 'other-persom'];
  expect(await runAsOperator(stack, args)).toMatchObject({ code: 2, document: null });
  await useEverything(otherPerson);
});
