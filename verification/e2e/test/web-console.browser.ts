import { execFile } from 'node:child_process';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { expectStatus, PartnerApp, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import type { Visitor } from '@phds/running-system/visitor';
import { eventually } from '@phds/test-kit/conditions';
import { createProofKey } from '@phds/test-kit/dpop-proofs';
import { listenOnLoopback } from '@phds/test-kit/loopback';
import type { Page } from 'playwright-core';
import { runAsOperator } from '../src/operator-command.ts';
import { registerOnPage } from '../src/registration-page.ts';
import { describeWithChromium, prepareVisits } from '../src/visits.ts';

const HEART = 'read:health-data:heart';

const visits = prepareVisits();

describeWithChromium('the developer console', () => {
  const isAuthenticated = async (app: PartnerApp) =>
    (await app.post('/oauth/token', { grant_type: 'client_credentials', ...app.credentials })).status === 200;

  test('registers an app, shows its secret once, rotates, suspends and revokes it', async () => {
    const { visitor, page } = await visits.enter('/console/new', 'web-console-maker');
    const app = await registerOnPage(visitor, visits.stack.gateway, 'Sleep Well');
    expect(await isAuthenticated(app)).toBe(true);
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('console-app-registered');
    await page.getByRole('link', { name: 'I have saved the secret' }).click();
    await page.getByRole('heading', { name: 'Sleep Well' }).waitFor();
    expect(await page.content()).not.toContain(app.clientSecret);

    await visitor.takePictures('console-app-new');
    await page.getByRole('button', { name: 'Rotate the secret' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Rotate' }).click();
    const shown = page.getByRole('region', { name: 'Client secret' }).locator('dd code').nth(1);
    await shown.waitFor();
    await visitor.takePictures('console-app-secret-rotated');
    expect(await isAuthenticated(app)).toBe(false);
    app.clientSecret = (await shown.textContent()) ?? '';
    expect(await isAuthenticated(app)).toBe(true);

    const replaced = new PartnerApp(app.gateway, { clientId: app.clientId, clientSecret: app.clientSecret });
    await page.getByRole('button', { name: 'Rotate the secret' }).click();
    const dialog = page.getByRole('alertdialog');
    await dialog.getByText('The old secret stops working immediately.').waitFor();
    await dialog.getByLabel('The old secret keeps working').selectOption({ label: 'For 7 days' });
    await dialog.getByText('Both secrets work in this time').waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('console-app-rotate-dialog');
    await dialog.getByRole('button', { name: 'Rotate' }).click();
    await page.getByText('The old secret works until').waitFor();
    app.clientSecret = (await shown.textContent()) ?? '';
    expect(app.clientSecret).not.toBe(replaced.clientSecret);
    expect([await isAuthenticated(replaced), await isAuthenticated(app)]).toEqual([true, true]);
    await page.getByText(`…${replaced.clientSecret.slice(-4)}, works until`).waitFor();
    await visitor.takePictures('console-app-secrets-overlap');
    await page.getByRole('button', { name: 'Rotate the secret' }).click();
    await dialog.getByText('The secret before').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();

    await page.getByRole('button', { name: 'Suspend' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Suspend' }).click();
    await page.getByRole('button', { name: 'Activate' }).waitFor();
    expect(await isAuthenticated(app)).toBe(false);
    await page.getByRole('button', { name: 'Activate' }).click();
    await page.getByRole('button', { name: 'Suspend' }).waitFor();
    expect(await isAuthenticated(app)).toBe(true);

    await page.getByRole('button', { name: 'Revoke' }).click();
    await visitor.takePictures('console-app-revoke-dialog');
    await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke permanently' }).click();
    await page.getByText('Revoked', { exact: true }).waitFor();
    await visitor.takePictures('console-app-revoked');
    expect(await isAuthenticated(app)).toBe(false);
  });

  test('keeps the input when it is refused, and shows the error at its field', async () => {
    const { visitor, page } = await visits.enter('/console/new', 'hasty');
    await page.getByLabel('Name', { exact: true }).fill('Hasty');
    await page.getByText('Only the port of an http loopback address').waitFor();
    await page.getByLabel('Redirect URIs').fill('http://not-loopback.example/cb');
    expect(await page.getByRole('checkbox', { name: 'Every request must use PKCE' }).isChecked()).toBe(true);
    await page.getByText('Scopes that the app can request: 0 of 22').waitFor();
    await page.getByRole('button', { name: 'Register' }).click();
    await page.getByRole('alert').getByText('Choose at least one scope.').waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('console-new-without-scopes');
    await page.getByText(HEART, { exact: true }).click();
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Register' }).click();
    expect(await page.getByRole('alert').textContent()).toContain('Nothing was saved.');
    expect(await page.getByLabel('Redirect URIs').inputValue()).toBe('http://not-loopback.example/cb');
    expect(await page.getByLabel('Redirect URIs').getAttribute('aria-invalid')).toBe('true');
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('console-new-refused');
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Register' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Not now' }).click();
    await page.getByRole('alert').getByRole('button', { name: 'Sign in again' }).waitFor();
    await visitor.takePictures('console-new-signed-out');
  });

  test('saves changed fields only', async () => {
    const { session, visitor, page } = await visits.enter('/console/new', 'changer');
    const { clientId } = await registerOnPage(visitor, visits.stack.gateway, 'Two Windows');
    await page.getByRole('link', { name: 'I have saved the secret' }).click();
    await page.getByLabel('Developer name').fill('Runners Ltd');
    const url = `${visits.stack.gateway}/developer/apps/${clientId}`;
    const elsewhere = { name: 'Renamed', scopes: ['read:profile'], homepageUrl: 'https://renamed.example/' };
    expectStatus(200, await send(url, { method: 'PATCH', json: elsewhere, bearer: session }));
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved.').waitFor();
    const { data } = (await send(url, { bearer: session })).body;
    expect(data).toMatchObject({ ...elsewhere, developerName: 'Runners Ltd' });
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Renamed');
    await page.getByLabel('Description').fill('For all');
    await page.getByText('Saved.').waitFor({ state: 'detached' });
  });

  test('takes an app from its secret to a key and to the security profile, and keeps a private key in the page', async () => {
    const session = await signIn(visits.stack, 'web-console-keys');
    const { gateway } = visits.stack;
    const app = await registerApp(gateway, session, { redirectUris: ['http://localhost:9999/back'] });
    const visitor = await visits.open(`/console/${app.clientId}`, { session });
    const { page } = visitor;
    const { publicJwk, privateJwk } = await createProofKey();
    const bodies: string[] = [];
    page.on('request', (request) => bodies.push(request.postData() ?? ''));
    const keys = page.getByLabel('Public keys');
    const save = async (jwk: object) => {
      await keys.fill(JSON.stringify(jwk));
      await page.getByRole('button', { name: 'Save keys and tokens' }).click();
    };
    const expectAccessible = async (picture: string) => {
      expect(await visitor.findBarriers()).toEqual([]);
      await visitor.takePictures(picture);
    };
    await save(privateJwk);
    await page.getByText('This contains a private key. It was not sent.').waitFor();
    expect(await keys.evaluate((field) => field === field.ownerDocument.activeElement)).toBe(true);
    await expectAccessible('console-keys-private');
    await save({ ...publicJwk, y: publicJwk['x'] });
    await page.getByText('key 1 is not a valid key', { exact: true }).waitFor();
    expect(bodies.join()).not.toContain(privateJwk['d']);
    await save({ ...publicJwk, kid: 'first' });
    await page.getByRole('row', { name: 'first ES256 Never' }).waitFor();
    await page.getByText('Secret or key: both work').waitFor();
    await page.getByText('Use https in all redirect URIs.').waitFor();
    await expectAccessible('console-keys-both');
    await page.getByLabel('Redirect URIs').fill('https://app.example/back');
    await page.getByRole('button', { name: 'Save', exact: true }).click();

    const confirm = async (change: string, told: string) => {
      await page.getByRole('button', { name: change }).click();
      const dialog = page.getByRole('alertdialog');
      await dialog.getByText(told).waitFor();
      await expectAccessible(`console-keys-${change.split(' ').pop()}`);
      await dialog.getByRole('button', { name: change }).click();
    };
    expect(await isAuthenticated(app)).toBe(true);
    await confirm('End the secret', 'No key has been used yet.');
    await page.getByText('Key alone (private_key_jwt)').waitFor();
    expect(await isAuthenticated(app)).toBe(false);
    expect(await page.getByRole('button', { name: 'Rotate the secret' }).count()).toBe(0);
    await page.getByText('This app signs its requests with a key').waitFor();
    await confirm('Switch on FAPI 2.0', 'It forces authentication by key alone');
    await page.getByText('FAPI 2.0 is on.').waitFor();
    expect(await page.getByRole('checkbox', { name: /PKCE|DPoP|PAR/ }).count()).toBe(0);
    await expectAccessible('console-keys-fapi2');
    await page.getByRole('button', { name: 'Switch off FAPI 2.0' }).click();
    await page.getByRole('button', { name: 'Allow a secret again' }).click();
    await page.getByText('Secret or key: both work').waitFor();
    expect(await page.getByRole('checkbox', { name: /DPoP/ }).isChecked()).toBe(true);
    await page.getByRole('button', { name: 'Rotate the secret' }).waitFor();
  });

  test('registers a page without a secret, with its origins', async () => {
    const { visitor, page } = await visits.enter('/console/new', 'web-console-page-maker');
    await page.getByText('Native', { exact: true }).click();
    await page.getByText('The app runs on a phone or a computer').waitFor();
    await page.getByText('Browser', { exact: true }).click();
    expect(await page.getByRole('checkbox', { name: /PKCE/ }).count()).toBe(0);
    await page.getByLabel('Name', { exact: true }).fill('Page');
    await page.getByLabel('Redirect URIs').fill('com.example.app:/back');
    await page.getByText(HEART, { exact: true }).click();
    await page.getByRole('button', { name: 'Register' }).click();
    await page.getByText('entry 1 must be https', { exact: false }).first().waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('console-new-browser');
    await page.getByLabel('Redirect URIs').fill('https://app.example/back');
    await page.getByRole('button', { name: 'Register' }).click();
    const told = page.getByText('This app has no secret.');
    await told.waitFor();
    expect(await told.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('console-app-registered-browser');
    await page.getByRole('link', { name: 'Open Page' }).click();
    expect(await page.getByLabel('Allowed origins').inputValue()).toBe('https://app.example');
    await page.getByText('None: PKCE').waitFor();
    expect(await page.getByLabel('Public keys').count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Rotate the secret' }).count()).toBe(0);
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('console-app-browser');
  });

  test('shows commands that a shell runs as intended, and where a FHIR client connects', async () => {
    const session = await signIn(visits.stack, 'caller');
    const redirectUris = ["https://app.example/back?a=1&b='c'"];
    const { gateway } = visits.stack;
    const app = await registerApp(gateway, session, { redirectUris, requirePkce: true, scopes: [HEART] });
    const { page } = await visits.open(`/console/${app.clientId}`, { session });
    await page.getByText(`or a FHIR client at ${gateway}/fhir/R4.`).waitFor();
    const commands = page.getByRole('figure', { name: 'Commands for the first call' }).locator('pre');
    const text = (await commands.textContent()) ?? '';
    expect(text).toContain("# 2: the browser returns to https://app.example/back?a=1&b='c'&code=…&state=xyz");
    // Prints the arguments of each call that are parameters.
    const stubs = 'openssl() { echo +/=; }; curl() { printf "%s\\n" "$@" | grep =; echo; }';
    const env = { ...process.env, CLIENT_SECRET: 'secret', CODE: 'code' };
    const { stdout } = await promisify(execFile)('sh', ['-c', `${stubs}\n${text}`], { env });
    const own = [`client_id=${app.clientId}`, 'client_secret=secret', `redirect_uri=${redirectUris}`];
    const challenge = ['code_challenge=-_', 'code_challenge_method=S256'];
    const [asked = '', exchanged = ''] = stdout.split('\n\n');
    expect(asked.split('\n').toSorted()).toEqual(
      [...own, ...challenge, `scope=${HEART}`, 'state=xyz'].toSorted(),
    );
    expect(exchanged.split('\n').toSorted()).toEqual(
      [...own, 'code=code', 'code_verifier=+/=', 'grant_type=authorization_code'].toSorted(),
    );
  });

  test('shows requests that were refused, by day and status', async () => {
    const session = await signIn(visits.stack, 'refused');
    const app = await registerApp(visits.stack.gateway, session, { name: 'Often Refused' });
    const visitor = await visits.open(`/console/${app.clientId}`, { session });
    const { page } = visitor;
    await page.getByText('No requests yet').waitFor();
    await visitor.takePictures('console-usage-empty');
    const { accessToken } = await app.connect(session, [HEART]);
    const heart = '/api/v1/health-data/heart?page=0';
    for (const path of ['/fhir/R4/Observation', heart, heart, '/api/v1/mood'])
      await app.read(accessToken, path);
    const figure = page.getByRole('figure', { name: 'Refused requests by day (UTC) and HTTP status' });
    const usage = `${visits.stack.gateway}/developer/apps/${app.clientId}/usage`;
    await eventually(async () => {
      const { data } = (await send(usage, { bearer: session })).body;
      return data.reduce((sum: number, { refused }: { refused: number }) => sum + refused, 0) === 3;
    });
    await visitor.goto(`/console/${app.clientId}`);
    await page
      .getByRole('figure')
      .getByRole('listitem')
      .filter({ hasText: '/fhir/R4/Observation' })
      .waitFor();
    await figure.getByText('As a table').click();
    expect((await figure.locator('tbody td:not(:first-child)').allTextContents()).toSorted()).toEqual(
      ['400', '2', '403', '1'].toSorted(),
    );
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('console-usage-refused');

    const rows = [1, 6, 7, 29].map((ago) => ({
      date: new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10),
      ...{ endpoint: '/api/v1/mood', released: 0, refused: 9, refusals: [], withoutKey: 2 },
    }));
    const pagination = { page: 1, pageSize: 100, total: rows.length, totalPages: 1 };
    await page.route('**/usage?*', (route) => route.fulfill({ json: { data: rows, pagination } }));
    await visitor.goto(`/console/${app.clientId}`);
    await page.getByText('without your key: 4 in the last 7 days, 8 in the last 30 days').waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('console-copied-tokens');
    await page.getByRole('link', { name: 'What to do' }).click();
    await page.getByRole('heading', { name: 'Requests without your key' }).waitFor();
    await visitor.goto(`/console/${app.clientId}`);
    await page.getByRole('link', { name: 'What the errors mean' }).click();
    await page.getByRole('link', { name: 'INSUFFICIENT_SCOPE' }).click();
    await page.getByRole('heading', { name: 'INSUFFICIENT_SCOPE' }).waitFor();
    await visitor.takePictures('problem-page');
  });

  test("shows nothing of another developer's app", async () => {
    const session = await signIn(visits.stack, 'web-console-owner');
    const app = await registerOnPage(
      await visits.open('/console/new', { session }),
      visits.stack.gateway,
      'Mine',
    );
    const { visitor: other } = await visits.enter(`/console/${app.clientId}`, 'web-console-mallory');
    await other.page.getByRole('heading', { name: 'You have no such app' }).waitFor();
    await other.takePictures('console-app-not-there');
  });
});

describeWithChromium('the developer console, where operators decide', () => {
  test('shows why an app is suspended or waits, and offers no way to activate it', async () => {
    const session = await signIn(visits.stack, 'web-console-locks-maker');
    const { clientId } = await registerApp(visits.stack.gateway, session);
    const reason = 'Its homepage is gone.';
    await runAsOperator(visits.stack, ['apps', 'suspend', clientId, '--reason', reason]);
    const visitor = await visits.open(`/console/${clientId}`, { session });
    const { page } = visitor;
    await page.getByText(reason).waitFor();
    await page.getByText('Suspended by the operator').waitFor();
    expect(await page.getByRole('button', { name: 'Activate' }).count()).toBe(0);
    expect(await visitor.findBarriers()).toEqual([]);

    await page.route(`**/developer/apps/${clientId}`, async (route) => {
      const answer = await route.fetch();
      const { data } = await answer.json();
      const lock = { ...data.lock, kind: 'approval', reason: null };
      await route.fulfill({ response: answer, json: { data: { ...data, lock } } });
    });
    await visitor.goto(`/console/${clientId}`);
    await page.getByText('Waiting for approval').waitFor();
  });

  test('tells a person who may not register apps before they fill in a form', async () => {
    const { visitor, page } = await visits.enter('/console', 'web-console-locks-visitor');
    await page.route('**/developer/apps?*', async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ response: answer, json: { ...(await answer.json()), mayRegister: false } });
    });
    for (const path of ['/console', '/console/new']) {
      await visitor.goto(path);
      await page.getByRole('heading', { name: 'You cannot register apps here' }).waitFor();
      expect(await page.getByRole('button', { name: 'Register' }).count()).toBe(0);
      expect(await page.getByRole('link', { name: 'Register an app' }).count()).toBe(0);
      expect(await visitor.findBarriers()).toEqual([]);
    }
  });
});

describeWithChromium('the request log', () => {
  const endpoints = (page: Page) =>
    page.getByRole('table', { name: 'Requests' }).locator('td:nth-child(3)').allTextContents();

  test('finds an error by its request id, filters by status and code, and shows no path, person or value', async () => {
    const { stack } = visits;
    const session = await signIn(stack, 'web-request-log-maker');
    const app = await registerApp(stack.gateway, session, { name: 'Puzzled', scopes: [HEART] });
    const visitor = await visits.open(`/console/${app.clientId}`, { session });
    const { page } = visitor;
    await page.getByRole('link', { name: 'Request log' }).click();
    await page.getByText('No requests in the last 24 hours').waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('request-log-empty');

    const { accessToken } = await app.connect(session, [HEART]);
    const form = { code: '8867-4' };
    await send(`${app.gateway}/fhir/R4/Observation/_search`, { bearer: accessToken, form });
    await app.read(accessToken, '/api/v1/health-data/heart?page=0');
    const refused = await app.read(accessToken, '/api/v1/profile');
    await app.post('/oauth/token', { grant_type: 'refresh_token', refresh_token: 'x', ...app.credentials });
    const all = [
      'POST /oauth/token',
      'GET /api/v1/profile',
      'GET /api/v1/health-data/heart',
      'POST /fhir/R4/Observation',
      'POST /oauth/token',
    ];
    await eventually(async () => {
      await page.getByRole('button', { name: 'Refresh' }).click();
      expect((await endpoints(page)).slice(0, all.length)).toEqual(all);
    });
    const table = page.getByRole('table', { name: 'Requests' });
    expect(await table.textContent()).not.toMatch(/page=0|8867-4|web-request-log-maker|sub_|grt_/);
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('request-log');

    await page.getByLabel('Request ID').fill('whatever');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByText('A request ID starts with req_').waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('request-log-wrong-id');
    await page.getByLabel('Request ID').fill(` ${refused.headers.get('x-request-id')} `);
    await page.getByLabel('Request ID').press('Enter');
    await eventually(async () => expect(await endpoints(page)).toEqual(['GET /api/v1/profile']));
    await page.getByRole('link', { name: 'INSUFFICIENT_SCOPE' }).waitFor();

    await page.getByLabel('Status').selectOption('5xx');
    await page.getByText('No request matches').waitFor();
    expect(await page.getByLabel('Request ID').inputValue()).toBe('');
    await visitor.takePictures('request-log-no-match');
    await page.getByRole('button', { name: 'Show all requests' }).click();
    await eventually(async () => expect(await endpoints(page)).toEqual(expect.arrayContaining(all)));
    await page.getByLabel('Error code').selectOption('INVALID_GRANT');
    await eventually(async () => expect(await endpoints(page)).toEqual(['POST /oauth/token']));

    await eventually(async () => {
      const { data } = (
        await send(`${app.gateway}/developer/apps/${app.clientId}/usage`, { bearer: session })
      ).body;
      return data.some(({ refusals }: { refusals: object[] }) => refusals.length > 0);
    });
    await visitor.goto(`/console/${app.clientId}/requests`);
    await page.getByRole('button', { name: '403: 1' }).click();
    await eventually(async () => expect(await endpoints(page)).toEqual(['GET /api/v1/profile']));
    expect(await page.getByLabel('Status').inputValue()).toBe('403');
  });

  test('says that it may be incomplete when the service cannot read all of it', async () => {
    const { stack } = visits;
    const session = await signIn(stack, 'web-request-log-partial');
    const app = await registerApp(stack.gateway, session);
    const visitor = await visits.open('/console', { session });
    await visitor.page.route('**/requests?*', async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ json: { ...((await answer.json()) as object), complete: false } });
    });
    await visitor.goto(`/console/${app.clientId}/requests`);
    await visitor.page.getByText('The list may be incomplete.').waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('request-log-incomplete');
  });
});

/** A receiver on this machine that answers with `status` and keeps what it got. */
interface Receiver extends AsyncDisposable {
  readonly url: string;
  status: number;
  readonly received: { readonly headers: IncomingHttpHeaders; readonly body: string }[];
}

async function startReceiver(): Promise<Receiver> {
  const received: Receiver['received'][number][] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
      response.writeHead(receiver.status).end();
    });
  });
  const port = await listenOnLoopback(server);
  const receiver: Receiver = {
    url: `http://127.0.0.1:${port}/events`,
    status: 204,
    received,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}

describeWithChromium('the webhook page', () => {
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await startReceiver();
  });
  afterAll(async () => receiver[Symbol.asyncDispose]());

  const secretOf = async ({ page }: Visitor) => {
    const shown = page.getByRole('region', { name: 'Signing secret' }).locator('dd code');
    await shown.waitFor();
    return shown.textContent();
  };

  test('sets a webhook up, shows its secret once, sends a test, delivers again, rotates and removes it', async () => {
    const { stack } = visits;
    const session = await signIn(stack, 'web-webhook-maker');
    const app = await registerApp(stack.gateway, session, { name: 'Listener' });
    const visitor = await visits.open(`/console/${app.clientId}`, { session });
    const { page } = visitor;
    await page.getByRole('link', { name: 'Webhook' }).click();
    await page.getByRole('button', { name: 'Set up the webhook' }).waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('webhook-none');

    await page.getByLabel('URL', { exact: true }).fill('ftp://receiver.example/');
    await page.getByRole('button', { name: 'Set up the webhook' }).click();
    await page.getByText('Nothing was saved.').waitFor();
    expect(await page.getByLabel('URL', { exact: true }).getAttribute('aria-invalid')).toBe('true');
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('webhook-refused');
    const events = ['grant.revoked', 'grant.expired', 'grant.narrowed', 'data.updated'];
    for (const name of events) await page.getByText(name, { exact: true }).click();
    await page.getByRole('button', { name: 'Set up the webhook' }).click();
    await page.getByText('Choose at least one event.').waitFor();
    await page.getByText('grant.revoked', { exact: true }).click();
    await page.getByLabel('URL', { exact: true }).fill(receiver.url);
    await page.getByRole('button', { name: 'Set up the webhook' }).click();
    const first = await secretOf(visitor);
    expect(first).toMatch(/^whsec_/);
    await page.getByText('No events yet').waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('webhook-new');
    await visitor.goto(`/console/${app.clientId}/webhook`);
    expect(await page.content()).not.toContain(first);

    receiver.status = 500;
    await page.getByRole('button', { name: 'Send a test' }).click();
    await page.getByText('The test is on its way.').waitFor();
    const delivery = page
      .getByRole('group')
      .filter({ hasText: 'test' })
      .filter({ has: page.locator('summary') });
    await delivery.locator('summary').click();
    await delivery.getByText('Refused with 500').first().waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('webhook-refused-delivery');
    receiver.status = 204;
    await delivery.getByRole('button', { name: 'Try now' }).click();
    await delivery.getByText('Accepted with 204').waitFor();
    await delivery.locator('summary').getByText('Delivered').waitFor();
    await page.getByText('Your receiver has not accepted').waitFor({ state: 'detached' });
    await visitor.takePictures('webhook-delivered');
    const accepted = receiver.received.length;
    await delivery.getByRole('button', { name: 'Send again' }).click();
    await eventually(() => receiver.received.length > accepted);
    const ids = new Set(receiver.received.map(({ headers }) => headers['webhook-id']));
    expect([ids.size, JSON.parse(receiver.received[0]?.body ?? '{}').type]).toEqual([1, 'test']);

    await page.getByRole('button', { name: 'Rotate the signing secret' }).click();
    const dialog = page.getByRole('alertdialog');
    await dialog.getByLabel('The old secret keeps working').selectOption({ label: 'For 1 day' });
    await dialog.getByText('signed with both secrets').waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('webhook-rotate-dialog');
    await dialog.getByRole('button', { name: 'Rotate' }).click();
    expect(await secretOf(visitor)).not.toBe(first);
    await page.getByText('each event is signed with the previous secret as well').waitFor();
    const before = receiver.received.length;
    await page.getByRole('button', { name: 'Send a test' }).click();
    await eventually(() => receiver.received.length > before);
    expect(String(receiver.received.at(-1)?.headers['webhook-signature']).split(' ')).toHaveLength(2);
    await visitor.takePictures('webhook-rotated');

    await page.getByLabel('State', { exact: true }).selectOption({ label: 'Given up' });
    await page.getByText('No event is in this state').waitFor();
    await page.getByRole('button', { name: 'Remove the webhook' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('button', { name: 'Set up the webhook' }).waitFor();
  });

  test('offers another secret when the answer with the first one is lost', async () => {
    const { stack } = visits;
    const session = await signIn(stack, 'web-webhook-lost');
    const app = await registerApp(stack.gateway, session);
    const visitor = await visits.open(`/console/${app.clientId}/webhook`, { session });
    const { page } = visitor;
    await page.route('**/webhook', async (route) => {
      if (route.request().method() !== 'PUT') return route.fallback();
      await route.fetch();
      await route.abort('connectionreset');
    });
    await page.getByLabel('URL', { exact: true }).fill(receiver.url);
    await page.getByRole('button', { name: 'Set up the webhook' }).click();
    await page.getByText('The webhook was saved, but the answer did not reach this page.').waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('webhook-answer-lost');
    await page.getByRole('button', { name: 'Rotate the signing secret' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Rotate' }).click();
    expect(await secretOf(visitor)).toMatch(/^whsec_/);
  });

  test('says since when the receiver has not accepted anything, and that a receiver that is gone gets nothing', async () => {
    const { stack } = visits;
    const session = await signIn(stack, 'web-webhook-trouble');
    const app = await registerApp(stack.gateway, session);
    const visitor = await visits.open('/console', { session });
    const webhook = {
      url: receiver.url,
      events: ['grant.revoked'],
      previousSecretExpiresAt: null,
      disabledReason: null as string | null,
      failingSince: new Date(Date.now() - 7_200_000).toISOString(),
      createdAt: new Date(Date.now() - 86_400_000).toISOString(),
      updatedAt: new Date(Date.now() - 86_400_000).toISOString(),
    };
    await visitor.page.route('**/webhook', (route) => {
      if (route.request().isNavigationRequest()) return route.fallback();
      return route.fulfill({ json: { data: webhook } });
    });
    await visitor.goto(`/console/${app.clientId}/webhook`);
    await visitor.page.getByText('Your receiver has not accepted an event since').waitFor();
    await visitor.takePictures('webhook-failing');
    webhook.disabledReason = 'gone';
    await visitor.goto(`/console/${app.clientId}/webhook`);
    await visitor.page.getByText('Nothing is sent any more.').waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('webhook-gone');
  });
});
