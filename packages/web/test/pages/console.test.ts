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

/** Opens a tab of an app, which the service changes as it is asked to. */
function openApp(tab: string, settings: Partial<typeof app> = {}, answers: Answers = {}): Promise<Page> {
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
  return openPage(`/console/${app.clientId}${tab}`, { answers: { ...service, ...answers } });
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

test('a new app says at each field what it lacks, then what the service refuses, and keeps the input', async () => {
  const registerApp = refuse('redirectUris[0]', 'entry 1 must be https');
  await using page = await openPage('/console/new', { answers: { registerApp } });
  page.see('Scopes that the app can request: 0 of 22');
  await page.press('Register');
  const [name, uris] = [fieldOf('Name'), fieldOf('Redirect URIs')];
  page.see('Enter a name.', name.parentElement as Element);
  page.see('Enter at least one redirect URI.', uris.parentElement as Element);
  expect([page.alerts, page.changes]).toEqual([['Choose at least one scope.'], []]);
  expect(document.activeElement).toBe(name);
  await fillIn(page, 'http://far.example/cb');
  expect(page.alerts).toEqual([]);
  await page.press('Register');
  expect(page.alerts).toEqual(['Nothing was changed.Redirect URIs entry 1 must be https']);
  expect([uris.value, uris.getAttribute('aria-invalid')]).toEqual(['http://far.example/cb', 'true']);
  expect(document.activeElement).toBe(uris);
  page.see('entry 1 must be https', uris.parentElement as Element);
  expect(await page.findBarriers()).toEqual([]);
});

test.each([
  ['Server', 'It has a server', 'phds_cs_1', 'Copy the secret now.', 'I have saved the secret'],
  ['Public', 'It runs on a phone, on a computer or in a page', null, 'This app has no secret.', 'Open Hasty'],
])('an app of the type %s is registered', async (type, effect, clientSecret, shown, next) => {
  const made = { ...example('registerApp').data, name: 'Hasty', clientSecret };
  await using page = await openPage('/console/new', { answers: { registerApp: { data: made } } });
  await page.press(type, 'radio');
  page.see(effect);
  await fillIn(page, 'https://app.example/cb');
  await page.press('Register');
  const [[, body] = []] = page.changes;
  const settings = { applicationType: type.toLowerCase(), scopes: ['read:mood'] };
  expect(body).toMatchObject({ ...settings, requirePkce: true, redirectUris: ['https://app.example/cb'] });
  expectFocus(shown);
  expect([has('link', next), page.find('phds_cs_1') !== null]).toEqual([true, clientSecret !== null]);
  expect(await page.findBarriers()).toEqual([]);
});

test('a form saves changed fields only, and shows what was changed elsewhere', async () => {
  await using page = await openApp('/settings');
  page.see(/^Registered \d.+, changed \d/);
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
  await using page = await openApp(
    '/credentials',
    {},
    { changeApp: refuse('jwks', 'key 1 is not a valid key') },
  );
  await page.fill(/^Public keys/, keys);
  await page.press('Save');
  const field = fieldOf(/^Public keys/);
  page.see(fault, field.parentElement as Element);
  expect([field.getAttribute('aria-invalid'), page.changes.length]).toEqual(['true', sent]);
  expect(document.activeElement).toBe(field);
  expect(await page.findBarriers()).toEqual([]);
});

test('a public key is saved; a private member is not sent', async () => {
  await using page = await openApp('/credentials');
  await page.fill(/^Public keys/, JSON.stringify(publicJwk));
  await page.press('Save');
  expect(page.changes).toEqual([['changeApp', { jwks: { keys: [publicJwk] } }]]);
  page.see('Saved.');
});

const PUBLIC = { applicationType: 'public', tokenEndpointAuthMethod: 'none', secretLast4: '' } as const;
const BOUND = { dpopBoundAccessTokens: true };

test.each<[string, Partial<typeof app>, string[], string]>([
  ['a secret', { secretLast4: 'm5yd' }, ['Secret', 'Key', 'Key and bound'], 'Secret'],
  ['a key', BY_KEY, ['Secret', 'Key', 'Key and bound'], 'Key'],
  ['a key and bound tokens', { ...BY_KEY, ...BOUND }, ['Secret', 'Key', 'Key and bound'], 'Key and bound'],
  [
    'a secret and bound tokens',
    BOUND,
    ['Secret', 'Secret and bound', 'Key', 'Key and bound'],
    'Secret and bound',
  ],
  ['no secret', PUBLIC, ['PKCE', 'PKCE and bound'], 'PKCE'],
])('an app with %s shows what gets tokens, and what can', async (_, settings, offered, chosen) => {
  await using page = await openApp('/credentials', settings);
  const radios = screen.getAllByRole<HTMLInputElement>('radio');
  const nameOf = (radio: Element) => textOf(radio.closest('label') as Element);
  expect(radios.map(nameOf)).toEqual(offered);
  expect(radios.filter(({ checked }) => checked).map(nameOf)).toEqual([chosen]);
  expect(has('button', 'Rotate the secret')).toBe(chosen.startsWith('Secret'));
  expect(screen.queryAllByLabelText(/^Public keys/)).toHaveLength(chosen.startsWith('PKCE') ? 0 : 1);
  expect(await page.findBarriers()).toEqual([]);
});

test.each<[string, Partial<typeof app>, string, string, object]>([
  [
    'Key and bound',
    KEYS,
    'Save and end the secret',
    'it cannot get or refresh tokens any more',
    { tokenEndpointAuthMethod: 'private_key_jwt', dpopBoundAccessTokens: true },
  ],
  ['Secret', BY_KEY, 'Save', 'replaced without a gap', { tokenEndpointAuthMethod: 'client_secret_basic' }],
  ['PKCE and bound', PUBLIC, 'Save', 'a proof of the key', { dpopBoundAccessTokens: true }],
])('%s is saved after its effect is shown', async (choice, settings, button, effect, sent) => {
  await using page = await openApp('/credentials', settings);
  await page.press(choice, 'radio');
  page.see(effect);
  await page.press(button);
  expect(page.changes).toEqual([['changeApp', sent]]);
  page.see('Saved.');
});

test.each<[string, string | null, Partial<typeof app>, string, string]>([
  ['Suspend', 'The service refuses', {}, 'Activate', 'suspended'],
  ['Activate', null, { status: 'suspended' }, 'Suspend', 'active'],
  ['Revoke', 'You cannot undo it.', {}, 'Activate', 'revoked'],
])(
  '%s changes the app, after its effect (%s) was confirmed',
  async (change, effect, settings, next, status) => {
    await using page = await openApp('/settings', settings);
    await page.press(change);
    if (effect !== null) {
      page.see(effect, screen.getByRole('alertdialog'));
      await page.press('Cancel');
      expect(page.changes).toEqual([]);
      await page.confirm(change, change === 'Revoke' ? 'Revoke permanently' : change);
    }
    expect(page.changes).toEqual([['setAppStatus', { status }]]);
    expect([has('button', change), has('button', next)]).toEqual([false, true]);
    if (effect !== null) expectFocus('Morning Run');
  },
);

test.each([
  ['suspension', 'Its homepage is gone.', 'Suspended by the operator', 'Reason: Its homepage is gone.'],
  ['approval', null, 'Waiting for approval', 'Until then nobody can share data with it.'],
] as const)(
  'an app under %s says why it is not active, and cannot be activated',
  async (kind, reason, status, why) => {
    await using page = await openApp('/settings', {
      status: 'suspended',
      lock: { kind, reason, since: after(-60) },
    });
    page.see(status);
    page.see(why);
    expect(has('button', 'Activate')).toBe(false);
    await page.press(screen.getByRole('link', { name: 'Overview' }));
    expect(page.find('The first call')).toBeNull();
  },
);

test.each(['/console', '/console/new'])('%s says that a person may not register apps', async (path) => {
  const answers = { listApps: { ...listOf(), mayRegister: false, sandbox: false } };
  await using page = await openPage(path, { answers });
  page.see('You cannot register apps here', screen.getByRole('main'));
  expect([has('button', 'Register'), has('link', 'Register an app')]).toEqual([false, false]);
});

test("an address of nobody's or another developer's app says so", async () => {
  await using page = await openApp('', {}, { getApp: problem('NOT_FOUND') });
  expect(textOf(page.see('You have no such app'))).toBe('You have no such app');
});

test('an app has tabs with addresses of their own, in English whatever the language of the browser', async () => {
  await using page = await openPage(`/console/${app.clientId}`, { language: 'de' });
  expect(document.documentElement.lang).toBe('en');
  const tabs = () => within(screen.getByRole('navigation', { name: 'Pages of this app' }));
  const titles = ['Overview', 'Credentials', 'Log', 'Webhook', 'Settings', 'Sandbox'];
  expect(tabs().getAllByRole('link').map(textOf)).toEqual(titles);
  for (const title of titles) {
    await page.press(tabs().getByRole('link', { name: title }));
    expect(document.title).toBe(`${title} · Morning Run · Partner Health Data`);
    expect(page.path).toBe(
      `/console/${app.clientId}${title === 'Overview' ? '' : `/${title.toLowerCase()}`}`,
    );
    expect(await page.findBarriers()).toEqual([]);
  }
});

const day = (ago: number) => new Date(NOW - ago * 86_400_000).toISOString().slice(0, 10);
const toRow = (ago: number, endpoint: string, status: number, count: number) => ({
  ...{ date: day(ago), endpoint, released: 1, refused: count, withoutKey: 2 },
  refusals: [{ status, count }],
});
const USAGE = listOf(
  toRow(0, '/fhir/R4/Observation', 403, 1),
  toRow(6, '/api/v1/mood', 400, 5),
  toRow(29, '/api/v1/mood', 429, 1),
);

test('the overview sums requests up, and points out those without the key', async () => {
  await using page = await openApp('', {}, { listAppUsage: USAGE });
  page.see('3 answered with data, 7 refused.');
  page.see('without your key: 4 in the last 7 days, 6 in the last 30 days');
  const href = screen.getByRole('link', { name: 'What to do' }).getAttribute('href');
  expect(href).toBe('/docs/sender-constrained#requests-without-your-key');
});

test('the log counts answers by day, endpoint and status', async () => {
  await using page = await openApp('/log', {}, { listAppUsage: USAGE });
  const figure = page.see('Requests in the last 30 days').closest('figure') as Element;
  await page.press(figure.querySelector('summary') as Element);
  const cells = [...figure.querySelectorAll('tbody tr')].map((row) => [...row.children].map(textOf).slice(1));
  expect(cells).toEqual([
    ['/fhir/R4/Observation', 'Answered', '1'],
    ['/fhir/R4/Observation', '403', '1'],
    ['/api/v1/mood', 'Answered', '1'],
    ['/api/v1/mood', '400', '5'],
    ['/api/v1/mood', 'Answered', '1'],
    ['/api/v1/mood', '429', '1'],
  ]);
});

test('the commands for the first call do in a shell what they say', async () => {
  const redirectUri = "https://app.example/back?a=1&b='c'";
  const scopes = ['read:health-data:heart'] as const;
  await using page = await openApp('', {
    redirectUris: [redirectUri],
    requirePkce: true,
    scopes: [...scopes],
  });
  page.see('None. New ones appear in the log');
  page.see('or a FHIR client at https://health.example/fhir/R4.');
  page.see(`2. The browser returns to ${redirectUri}&code=…&state=xyz.`);
  const steps = screen.getAllByRole('figure').map((figure) => figure.querySelector('pre')?.textContent);
  // Prints the arguments of each call that are parameters.
  const stubs = 'openssl() { echo +/=; }; curl() { printf "%s\\n" "$@" | grep =; echo; }';
  const env = { ...process.env, CLIENT_SECRET: 'secret', CODE: 'code' };
  const calls = execFileSync('sh', ['-c', `${stubs}\n${steps.join('\n')}`], { env, encoding: 'utf8' }).split(
    '\n\n',
  );
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
