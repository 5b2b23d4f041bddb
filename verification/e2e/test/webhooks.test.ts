import { expect, test } from '@jest/globals';
import { ingestReadings } from '@phds/running-system/ingestion';
import { expectStatus, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { useSharedStack } from '@phds/running-system/shared-stack';
import { eventually } from '@phds/test-kit/conditions';
import { shared } from '@phds/test-kit/shared';
import { WebhookReceiver } from '@phds/test-kit/webhook-receiver';

const SCOPES = ['read:health-data:heart', 'read:health-data:activity'];
const EVENTS = ['grant.revoked', 'grant.expired', 'grant.narrowed', 'data.updated'];

const stack = await useSharedStack();
const receiver = shared.use(await WebhookReceiver.start());
const developer = await signIn(stack, 'developer-of-webhooks');
const person = await signIn(stack, 'person-with-webhooks');
const app = await registerApp(stack.gateway, developer, { scopes: SCOPES });

const ask = (path: string, options: { method?: string; json?: unknown } = {}) =>
  send(`${stack.gateway}/developer/apps/${app.clientId}/webhook${path}`, { bearer: developer, ...options });
const typesOf = (grantId: string) =>
  receiver.events.filter(({ data }) => data.grantId === grantId).map(({ type }) => type);
const change = (grantId: string, method: string, json?: unknown) =>
  send(`${stack.gateway}/partner/consent/grants/${grantId}`, { method, bearer: person, json });

test('an app gets signed events in order, also after its secret was rotated and again when its developer asks for them', async () => {
  const settings = { url: receiver.url, events: EVENTS };
  const { secret, ...made } = expectStatus(201, await ask('', { method: 'PUT', json: settings })).body.data;
  expect(made).toMatchObject({ ...settings, disabledReason: null, failingSince: null });
  receiver.use(secret);
  expectStatus(202, await ask('/test', { method: 'POST' }));
  await eventually(() => expect(receiver.events.map(({ type }) => type)).toEqual(['test']));

  const { grantId } = await app.connect(person, SCOPES);
  const at = '2026-03-01T08:00:00.000Z';
  const reading = { type: 'Heart Rate', value: 60, start: at, end: at, source: 'apple-watch' };
  await ingestReadings(stack, 'person-with-webhooks', [reading]);
  await eventually(() => expect(typesOf(grantId)).toEqual(['data.updated']));
  expect(receiver.events.at(-1)).toMatchObject({ data: { grantId, categories: ['heart'] } });

  const rotated = expectStatus(
    200,
    await ask('/rotate-secret', { method: 'POST', json: { overlapSeconds: 600 } }),
  );
  expectStatus(200, await change(grantId, 'PATCH', { scopes: SCOPES.slice(0, 1) }));
  expectStatus(200, await change(grantId, 'DELETE'));
  await eventually(() =>
    expect(typesOf(grantId)).toEqual(['data.updated', 'grant.narrowed', 'grant.revoked']),
  );
  receiver.use(rotated.body.data.secret);
  const { data } = expectStatus(200, await ask('/deliveries?state=delivered')).body;
  const [ended] = data.filter(({ type }: { type: string }) => type === 'grant.revoked');
  expect(ended.attempts[0]).toMatchObject({ status: 204, failure: null });
  expectStatus(202, await ask(`/deliveries/${ended.id}/redeliver`, { method: 'POST' }));
  await eventually(() => expect(receiver.accepted.filter(({ id }) => id === ended.id)).toHaveLength(2));

  expect(receiver.answers).not.toContain(401);
  expectStatus(204, await ask('', { method: 'DELETE' }));
  expectStatus(404, await ask(''));
});

test('a developer is told why a URL cannot be set', async () => {
  for (const url of ['https://10.0.0.1/', 'ftp://pulse.test/', 'pulse']) {
    const { body } = expectStatus(400, await ask('', { method: 'PUT', json: { url, events: EVENTS } }));
    expect(body.errors).toMatchObject([{ parameter: 'url' }]);
  }
  const unknown = await ask('', { method: 'PUT', json: { url: receiver.url, events: ['grant.made'] } });
  expect(expectStatus(400, unknown).body.errors).toMatchObject([{ parameter: 'events.0' }]);
});
