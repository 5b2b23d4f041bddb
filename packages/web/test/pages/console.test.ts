import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { type Answers, example, listOf, problem, type Sent } from '../kit/answers.ts';
import { openPage, type Page, screen, textOf, within } from '../kit/page.ts';
import { after, NOW } from '../kit/times.ts';

const { data: app } = example('getApp');
const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const privateJwk = privateKey.export({ format: 'jwk' });
const publicJwk = { ...publicKey.export({ format: 'jwk' }), kid: 'first' };
const KEYS = { jwks: { keys: [publicJwk] } } as never;
const BY_KEY = { ...(KEYS as object), secretLast4: '', tokenEndpointAuthMethod: 'private_key_jwt' } as const;

/** Opens the page of an app, which the service changes as it is asked to. */
function openApp(settings: Partial<typeof app> = {}, answers: Answers = {}): Promise<Page> {
  let data = { ...app, ...settings };
  const change = ({ body }: Sent) => {
    data = { ...data, ...(body as object) };
    return { data };
  };
  const service: Answers = {
    getApp: () => ({ data }),
    changeApp: change,
    setAppStatus: (sent) => {
      const { clientId, status } = change(sent).data;
      return { data: { clientId, status, statusChangedAt: after(0) } };
    },
    listAppUsage: listOf(),
  };
  return openPage(`/console/${app.clientId}`, { answers: { ...service, ...answers } });
}

const refuse = (parameter: string, message: string) =>
  problem('INVALID_REQUEST', { errors: [{ parameter, message }] });
const has = (role: string, name: string | RegExp) => screen.queryByRole(role, { name }) !== null;
const fieldOf = (label: string | RegExp) => screen.getByLabelText<HTMLInputElement>(label);
const expectFocus = (text: string) => expect(textOf(document.activeElement as Element)).toContain(text);

async function fillIn(page: Page, redirectUri: string): Promise<void> {
  await page.fill('Name', 'Hasty');
  await page.fill('Redirect URIs', redirectUri);
  await page.press(/read:mood/, 'checkbox');
}

test('a new app needs a scope, and what the service refuses is shown at its field, with the input', async () => {
  const registerApp = refuse('redirectUris[0]', 'entry 1 must be https');
  await using page = await openPage('/console/new', { answers: { registerApp } });
  page.see('Only the port of an http loopback address');
  expect(screen.getByRole<HTMLInputElement>('checkbox', { name: /PKCE/ }).checked).toBe(true);
  await page.press('Register');
  page.see('Scopes that the app can request: 0 of 22');
  expect([page.alerts, page.changes]).toEqual([['Choose at least one scope.'], []]);
  await fillIn(page, 'http://far.example/cb');
  expect(page.alerts).toEqual([]);
  await page.press('Register');
  expect(page.alerts).toEqual([expect.stringContaining('Nothing was saved.')]);
  const field = fieldOf('Redirect URIs');
  expect([field.value, field.getAttribute('aria-invalid')]).toEqual(['http://far.example/cb', 'true']);
  page.see('entry 1 must be https', field.parentElement as Element);
  expect(await page.findBarriers()).toEqual([]);
});

test.each([
  ['Server', 'The app has a server', 'phds_cs_1', 'Copy the secret now.', 'I have saved the secret'],
  [
    'Public',
    'The app runs on a phone, on a computer or in a page',
    null,
    'This app has no secret.',
    'Open Hasty',
  ],
])('an app of the type %s is registered', async (type, effect, clientSecret, shown, next) => {
  const made = { ...example('registerApp').data, name: 'Hasty', clientSecret };
  await using page = await openPage('/console/new', { answers: { registerApp: { data: made } } });
  await page.press(type, 'radio');
  page.see(effect);
  expect(has('checkbox', /PKCE/)).toBe(type === 'Server');
  await fillIn(page, 'https://app.example/cb');
  await page.press('Register');
  const [[, body] = []] = page.changes;
  const settings = { applicationType: type.toLowerCase(), scopes: ['read:mood'] };
  expect(body).toMatchObject({ ...settings, redirectUris: ['https://app.example/cb'] });
  expectFocus(shown);
  expect([has('link', next), page.text.includes('phds_cs_1')]).toEqual([true, clientSecret !== null]);
  expect(await page.findBarriers()).toEqual([]);
});

test('a form saves changed fields only, and shows what was changed elsewhere', async () => {
  await using page = await openApp();
  await page.fill(/^Developer name/, 'Runners Ltd');
  page.answers.getApp = { data: { ...app, name: 'Renamed', developerName: 'Runners Ltd' } };
  await page.press('Save');
  page.see('Saved.');
  expect(page.changes).toEqual([['changeApp', { developerName: 'Runners Ltd' }]]);
  expect(fieldOf('Name').value).toBe('Renamed');
  await page.fill(/^Description/, 'For all');
  expect(page.find('Saved.')).toBeNull();
});

test.each([
  ['a private key', JSON.stringify(privateJwk), 'This contains a private key. It was not sent.', 0],
  ['no key', '{', 'This is not a public key as JSON.', 0],
  ['a key that the service refuses', JSON.stringify(publicJwk), 'key 1 is not a valid key', 1],
])('%s is not saved, which the field says', async (_, keys, fault, sent) => {
  await using page = await openApp({}, { changeApp: refuse('jwks', 'key 1 is not a valid key') });
  await page.fill(/^Public keys/, keys);
  await page.press('Save keys and tokens');
  const field = fieldOf(/^Public keys/);
  page.see(fault, field.parentElement as Element);
  expect([field.getAttribute('aria-invalid'), page.changes.length]).toEqual(['true', sent]);
  if (sent === 0) expect(document.activeElement).toBe(field);
  expect(await page.findBarriers()).toEqual([]);
});

test('a public key is saved and listed', async () => {
  await using page = await openApp();
  await page.fill(/^Public keys/, JSON.stringify(publicJwk));
  await page.press('Save keys and tokens');
  expect(page.changes).toEqual([['changeApp', { jwks: { keys: [publicJwk] } }]]);
  expect(has('row', 'first ES256')).toBe(true);
});

const OFFERS = ['Rotate the secret', 'End the secret', 'Allow a secret again'];

test.each<[string, Partial<typeof app>, string[], string[], string[]]>([
  [
    'a secret',
    { secretLast4: 'm5yd' },
    ['The app has no key.', '…m5yd'],
    ['Rotate the secret'],
    ['PKCE', 'DPoP', 'PAR'],
  ],
  [
    'a secret and a key',
    KEYS,
    ['Secret or key: both work'],
    ['Rotate the secret', 'End the secret'],
    ['PKCE', 'DPoP', 'PAR'],
  ],
  [
    'a key',
    BY_KEY,
    ['Key alone (private_key_jwt)', 'This app signs its requests with a key'],
    ['Allow a secret again'],
    ['PKCE', 'DPoP', 'PAR'],
  ],
  [
    'no secret',
    { applicationType: 'public', tokenEndpointAuthMethod: 'none', secretLast4: '' },
    ['None: PKCE'],
    [],
    ['DPoP', 'PAR'],
  ],
])('an app with %s offers what it can change', async (_, settings, says, offers, checks) => {
  await using page = await openApp(settings);
  for (const text of says) page.see(text);
  expect(OFFERS.filter((name) => has('button', name))).toEqual(offers);
  expect(['PKCE', 'DPoP', 'PAR'].filter((name) => has('checkbox', new RegExp(name)))).toEqual(checks);
  const isServer = settings.applicationType === undefined;
  expect(screen.queryAllByLabelText(/^Public keys/)).toHaveLength(isServer ? 1 : 0);
});

test.each<[string, string | null, Partial<typeof app>, string, readonly [string, object]]>([
  ['Suspend', 'The service refuses', {}, 'Activate', ['setAppStatus', { status: 'suspended' }]],
  ['Activate', null, { status: 'suspended' }, 'Suspend', ['setAppStatus', { status: 'active' }]],
  ['Revoke', 'You cannot undo it.', {}, 'Activate', ['setAppStatus', { status: 'revoked' }]],
  [
    'End the secret',
    'if it does not sign with one yet',
    KEYS,
    'Allow a secret again',
    ['changeApp', { tokenEndpointAuthMethod: 'private_key_jwt' }],
  ],
  [
    'Allow a secret again',
    null,
    BY_KEY,
    'End the secret',
    ['changeApp', { tokenEndpointAuthMethod: 'client_secret_basic' }],
  ],
])(
  '%s changes the app, after its effect (%s) was confirmed',
  async (change, effect, settings, next, sent) => {
    await using page = await openApp(settings);
    await page.press(change);
    if (effect !== null) {
      page.see(effect, screen.getByRole('alertdialog'));
      await page.press('Cancel');
      expect(page.changes).toEqual([]);
      await page.confirm(change, change === 'Revoke' ? 'Revoke permanently' : change);
    }
    expect(page.changes).toEqual([sent]);
    expect([has('button', change), has('button', next)]).toEqual([false, true]);
    if (effect !== null) expectFocus('Morning Run');
  },
);

test('a secret is rotated, and the old one stops at once', async () => {
  const data = { ...example('rotateSecret').data, clientSecret: 'phds_cs_new' };
  await using page = await openApp({}, { rotateSecret: { data } });
  await page.press('Rotate the secret');
  const dialog = screen.getByRole('alertdialog');
  page.see('The old secret stops working immediately.', dialog);
  await page.press(within(dialog).getByRole('button', { name: 'Rotate' }));
  expect(page.changes).toEqual([['rotateSecret', null]]);
  page.see('phds_cs_new', screen.getByRole('region', { name: 'Client secret' }));
  expectFocus('Copy the secret now.');
});

test.each([
  ['suspension', 'Its homepage is gone.', 'Suspended by the operator', 'Reason: Its homepage is gone.'],
  ['approval', null, 'Waiting for approval', 'Until then nobody can share data with it.'],
] as const)(
  'an app under %s says why it is not active, and cannot be activated',
  async (kind, reason, status, why) => {
    await using page = await openApp({ status: 'suspended', lock: { kind, reason, since: after(-60) } });
    page.see(status);
    page.see(why);
    expect(has('button', 'Activate')).toBe(false);
  },
);

test.each(['/console', '/console/new'])('%s says that a person may not register apps', async (path) => {
  const answers = { listApps: { ...listOf(), mayRegister: false, sandbox: false } };
  await using page = await openPage(path, { answers });
  page.see('You cannot register apps here', screen.getByRole('main'));
  expect([has('button', 'Register'), has('link', 'Register an app')]).toEqual([false, false]);
});

test("an address of nobody's or another developer's app says so", async () => {
  await using page = await openApp({}, { getApp: problem('NOT_FOUND') });
  expect(textOf(page.see('You have no such app'))).toBe('You have no such app');
});

test('usage counts refused requests by day and status, and points out requests without the key', async () => {
  const day = (ago: number) => new Date(NOW - ago * 86_400_000).toISOString().slice(0, 10);
  const toRow = (ago: number, endpoint: string, status: number, count: number) => ({
    ...{ date: day(ago), endpoint, released: 1, refused: count, withoutKey: 2 },
    refusals: [{ status, count }],
  });
  const rows = [
    toRow(0, '/api/v1/health-data/heart', 403, 2),
    toRow(0, '/fhir/R4/Observation', 403, 1),
    toRow(6, '/api/v1/mood', 400, 5),
    toRow(7, '/api/v1/mood', 403, 1),
    toRow(29, '/api/v1/mood', 429, 1),
  ];
  await using page = await openApp({}, { listAppUsage: listOf(...rows) });
  page.see('without your key: 6 in the last 7 days, 10 in the last 30 days');
  const figure = page.see('Refused requests by day (UTC) and HTTP status').closest('figure') as Element;
  const details = figure.querySelector('details') as HTMLDetailsElement;
  await page.press(details.querySelector('summary') as Element);
  const cells = [...figure.querySelectorAll('tbody tr')].map((row) => [...row.children].map(textOf).slice(1));
  expect(cells).toEqual([
    ['403', '3'],
    ['400', '5'],
    ['403', '1'],
    ['429', '1'],
  ]);
  page.see('/fhir/R4/Observation');
  const hrefOf = (name: string) => screen.getByRole('link', { name }).getAttribute('href');
  expect(hrefOf('What to do')).toBe('/docs/sender-constrained#requests-without-your-key');
  expect(hrefOf('What the errors mean')).toBe('/problems');
});

test('the commands for the first call do in a shell what they say', async () => {
  const redirectUri = "https://app.example/back?a=1&b='c'";
  const scopes = ['read:health-data:heart'] as const;
  await using page = await openApp({ redirectUris: [redirectUri], requirePkce: true, scopes: [...scopes] });
  page.see('No requests yet');
  page.see('or a FHIR client at https://health.example/fhir/R4.');
  const figure = screen.getByRole('figure', { name: 'Commands for the first call' });
  const commands = figure.querySelector('pre')?.textContent ?? '';
  expect(commands).toContain(`# 2: the browser returns to ${redirectUri}&code=…&state=xyz`);
  // Prints the arguments of each call that are parameters.
  const stubs = 'openssl() { echo +/=; }; curl() { printf "%s\\n" "$@" | grep =; echo; }';
  const env = { ...process.env, CLIENT_SECRET: 'secret', CODE: 'code' };
  const calls = execFileSync('sh', ['-c', `${stubs}\n${commands}`], { env, encoding: 'utf8' }).split('\n\n');
  const own = [`client_id=${app.clientId}`, 'client_secret=secret', `redirect_uri=${redirectUri}`];
  const asked = [
    ...own,
    'code_challenge=-_',
    'code_challenge_method=S256',
    `scope=${scopes[0]}`,
    'state=xyz',
  ];
  const exchanged = [...own, 'code=code', 'code_verifier=+/=', 'grant_type=authorization_code'];
  expect(calls.slice(0, 2).map((call) => call.split('\n').toSorted())).toEqual([
    asked.toSorted(),
    exchanged.toSorted(),
  ]);
});
