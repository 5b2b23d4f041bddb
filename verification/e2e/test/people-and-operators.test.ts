import { expect, test } from '@jest/globals';
import { expectStatus, type PartnerApp, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { type RequestOptions, send } from '@phds/running-system/request';
import { useSharedStack } from '@phds/running-system/shared-stack';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { runAsOperator } from '../src/operator-command.ts';

const HEART = 'read:health-data:heart';
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

const stack = await useSharedStack();
const developer = await signIn(stack, 'developer');

const partner = (bearer: string, path: string, options: RequestOptions = {}) =>
  send(`${stack.gateway}/partner${path}`, { bearer, ...options });
const register = (name: string): Promise<PartnerApp> => registerApp(stack.gateway, developer, { name });

test('a receipt is signed by one of the published keys', async () => {
  const user = await signIn(stack, 'person-with-receipt');
  const { grantId } = await (await register('Pulse')).connect(user, [HEART]);
  const { data } = expectStatus(200, await partner(user, `/consent/grants/${grantId}/receipt`)).body;
  const published = (await send(`${stack.gateway}/.well-known/jwks.json`)).body;
  const { payload } = await jwtVerify(data.receipt, createLocalJWKSet(published));
  expect(payload).toMatchObject({ record_id: grantId, pii_principal_id: 'person-with-receipt' });
});

const operate = (...args: string[]) => runAsOperator(stack, ['apps', ...args]);

test('an app that an operator suspends is refused everywhere, and only an operator brings it back', async () => {
  const owner = await signIn(stack, 'operators-and-apps-developer');
  const app = await registerApp(stack.gateway, owner);
  const ada = await signIn(stack, 'operators-and-apps-ada');
  const tokens = await app.connect(ada, ['read:profile']);
  const findGrantedApp = async () =>
    (await send(`${stack.gateway}/partner/consent/grants/${tokens.grantId}`, { bearer: ada })).body.data.app;
  expect(await findGrantedApp()).not.toHaveProperty('suspended');
  const url = `${stack.gateway}/developer/apps/${app.clientId}`;
  const reason = 'It pretends to be a ministry.';
  const suspended = await operate('suspend', app.clientId, '--reason', reason);
  const locked = { app: { status: 'APP_STATUS_SUSPENDED', lock: { reason } } };
  expect(suspended).toMatchObject({ code: 0, document: { app: locked } });

  expect(await findGrantedApp()).toMatchObject({ clientId: app.clientId, suspended: true });
  const garbage = await app.read('phds_at_garbage', '/api/v1/profile');
  for (const gateway of stack.gatewayUrls) {
    const refused = await send(`${gateway}/api/v1/profile`, { bearer: tokens.accessToken });
    expect([refused.status, refused.body]).toEqual([401, garbage.body]);
  }
  expect((await app.refresh(tokens.refreshToken)).status).toBe(401);
  expect((await app.authorize(['read:profile'])).status).toBe(401);

  const shown = expectStatus(200, await send(url, { bearer: owner })).body.data;
  expect(shown).toMatchObject({ status: 'suspended', lock: { kind: 'suspension', reason } });
  const undone = await send(`${url}/status`, { bearer: owner, json: { status: 'active' } });
  expect([undone.status, undone.body.code]).toEqual([409, 'CONFLICT']);
  expect(undone.body.detail).toContain(reason);
  const listed = await operate('list', '--locked', 'suspension', '--owner', 'operators-and-apps-developer');
  expect(listed.document).toMatchObject({ total: 1, apps: [locked] });

  const [{ fingerprint }] = (await operate('show', app.clientId)).document.apps;
  const resumed = await operate('resume', app.clientId, '--seen', fingerprint, '--reason', 'It answered.');
  expect(resumed).toMatchObject({ code: 0, document: { app: { app: { status: 'APP_STATUS_ACTIVE' } } } });
  expect(resumed.document.app.app).not.toHaveProperty('lock');
  expect(await findGrantedApp()).not.toHaveProperty('suspended');
  expectStatus(200, await app.read(tokens.accessToken, '/api/v1/profile'));
  expectStatus(200, await app.refresh(tokens.refreshToken));
  expect(await operate('show', 'app_0000000000000000000000')).toMatchObject({
    code: 1,
    document: { error: expect.stringContaining('no such app') },
  });
});

test('what operators do is in their record, and the person sees what concerns them', async () => {
  const user = await signIn(stack, 'recorded-person');
  const app = await register('Recorded');
  const tokens = await app.connect(user, [HEART]);
  const reason = 'The person asked for it, “at once”.';
  const erased = ['erase', '--user', 'recorded-person', '--confirm', 'recorded-person', '--reason', reason];
  const added = ['developers', 'add', '--user', 'recorded-person', '--reason', 'A partner.'];
  expect((await runAsOperator(stack, added)).code).toBe(0);
  const seen = expectStatus(200, await partner(user, '/consent/operator-acts')).body;
  expect(seen).toEqual({
    data: [
      {
        id: expect.any(String),
        at: expect.stringMatching(INSTANT),
        act: 'developer_added',
        clientId: null,
        appName: null,
      },
    ],
    pagination: { page: 1, pageSize: 20, total: 1, totalPages: 1 },
  });
  const preview = await runAsOperator(stack, ['erase', '--user', 'recorded-person', '--dry-run']);
  expect(preview).toMatchObject({
    code: 0,
    document: { grants: 1, endedGrants: 0, openRequests: 0, ownApps: [] },
  });
  expectStatus(200, await partner(user, `/consent/grants/${tokens.grantId}`));
  const erasure = await runAsOperator(stack, erased);
  expect(erasure.code).toBe(0);

  const audit = await runAsOperator(stack, ['audit']);
  expect(audit.code).toBe(0);
  const acts = audit.lines.filter((line) => line.reason === reason && line.rpc.endsWith('/EraseUser'));
  const erasing = { operator: 'local', userId: '', requestId: acts[0]?.requestId };
  expect(acts).toMatchObject([
    { rpc: 'phds.authorization.v1.AuthorizationService/EraseUser', ...erasing },
    { rpc: 'phds.consent.v1.ConsentService/EraseUser', ...erasing },
    { rpc: 'phds.healthdata.v1.IngestionService/EraseUser', ...erasing },
  ]);
  for (const { number } of acts)
    expect(audit.lines).toContainEqual(expect.objectContaining({ ends: number, outcome: 'OK' }));
  expect(erasure.document.acts).toMatchObject(acts.map(({ rpc, number, hash }) => ({ rpc, number, hash })));
});

test('an operator finds the grants of a person, ends one, and ends the sessions', async () => {
  const user = await signIn(stack, 'helped-person');
  const app = await register('Ended');
  const tokens = await app.connect(user, [HEART]);
  const of = ['--user', 'helped-person'];
  const listed = await runAsOperator(stack, ['grants', 'list', ...of]);
  expect(listed.document).toMatchObject({
    total: 1,
    grants: [{ id: tokens.grantId, status: 'GRANT_STATUS_ACTIVE', app: { name: 'Ended' } }],
  });

  const ended = await runAsOperator(stack, [
    'grants',
    'revoke',
    tokens.grantId,
    '--reason',
    'Asked by phone.',
  ]);
  expect(ended).toMatchObject({ code: 0, document: { revokedAt: expect.any(String) } });
  const garbage = await app.read('phds_at_garbage', '/api/v1/profile');
  for (const gateway of stack.gatewayUrls) {
    const refused = await send(`${gateway}/api/v1/profile`, { bearer: tokens.accessToken });
    expect([refused.status, refused.body]).toEqual([401, garbage.body]);
  }
  const grant = expectStatus(200, await partner(user, `/consent/grants/${tokens.grantId}`)).body.data;
  expect(grant).toMatchObject({ status: 'revoked', endedBy: 'operator' });
  const acts = expectStatus(200, await partner(user, '/consent/operator-acts')).body.data;
  expect(acts.map(({ act, clientId }: { act: string; clientId: string }) => [act, clientId])).toEqual([
    ['grant_ended', app.clientId],
    ['grants_viewed', null],
  ]);
  const shown = await runAsOperator(stack, ['people', 'show', ...of]);
  expect(shown.document).toEqual({ activeGrants: 0, endedGrants: 1, openRequests: 0 });

  expect((await runAsOperator(stack, ['sessions', 'end', ...of, '--reason', 'A lost phone.'])).code).toBe(0);
  expect((await partner(user, '/consent/grants')).status).toBe(401);
  const mistaken = ['erase', '--user', 'no-such-person', '--confirm', 'no-such-person', '--reason', 'typo'];
  expect((await runAsOperator(stack, mistaken)).document.removed).toEqual({
    authorization: { codes: 0, families: 0, apps: 0 },
    consent: { grants: 0, pendingApprovals: 0 },
    'health-data': { rows: 0 },
  });
  expect(await runAsOperator(stack, ['people', 'show', '--user', 'no-such-person'])).toMatchObject({
    code: 1,
    document: { error: expect.stringContaining('nothing of this person') },
  });
});

test('an app that is transferred belongs to the next developer at once, with its webhook, and both see it', async () => {
  const [former, next] = [await signIn(stack, 'former-developer'), await signIn(stack, 'next-developer')];
  const { clientId } = await registerApp(stack.gateway, former);
  const url = `${stack.gateway}/developer/apps/${clientId}`;
  const webhook = { url: 'https://pulse.test/events', events: ['grant.revoked'] };
  expectStatus(201, await send(`${url}/webhook`, { method: 'PUT', bearer: former, json: webhook }));
  const webhooks = (...args: string[]) => runAsOperator(stack, ['webhooks', ...args]);
  const why = ['--reason', 'Its receiver is overloaded.'];
  expect((await webhooks('pause', clientId, ...why)).code).toBe(0);
  const listed = (await webhooks('list')).document.webhooks;
  expect(listed).toContainEqual(
    expect.objectContaining({ webhook: expect.objectContaining({ clientId, disabledReason: 'paused' }) }),
  );
  const again = ['redeliver', clientId, '--since', '2026-01-01', ...why];
  expect((await webhooks(...again)).document).toEqual({ events: 0 });
  expect((await webhooks('resume', clientId, ...why)).code).toBe(0);
  const suspended = await runAsOperator(stack, ['restore', 'list', '--app', clientId]);
  const none = { items: [], total: 0 };
  expect(suspended.document).toEqual({ consent: none, authorization: none });

  const transfer = ['transfer', clientId, '--to-user', 'next-developer', '--reason', 'She left the company.'];
  expect(await operate(...transfer)).toMatchObject({
    code: 0,
    document: { app: { ownerId: 'next-developer' } },
  });
  for (const path of ['', '/webhook']) {
    expectStatus(404, await send(`${url}${path}`, { bearer: former }));
    expectStatus(200, await send(`${url}${path}`, { bearer: next }));
  }
  for (const bearer of [former, next]) {
    const acts = expectStatus(200, await partner(bearer, '/consent/operator-acts')).body.data;
    expect(acts).toMatchObject([{ act: 'app_transferred' }]);
  }
});
