import { timestampDate } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from '@jest/globals';
import { AppStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { newId } from '@phds/service-kit/ids';
import { HEART, ISSUER, REDIRECT_URI, race, reasonOf, refusalOf, shareHarness } from './harness.ts';

const harness = await shareHarness({ MAX_APPS_PER_DEVELOPER: '15' });

const register = async (settings: object, owner = newId('dev')) =>
  harness.apps.registerApp(
    { settings: { name: 'App', redirectUris: [REDIRECT_URI], ...settings } },
    await harness.as(owner),
  );

describe('registration', () => {
  test('returns the app with all scopes and, this time only, its secret', async () => {
    const { app, clientSecret } = await register(
      { name: '  Sleep well ', homepageUrl: 'https://app.test' },
      'amy',
    );
    expect(app).toMatchObject({
      name: 'Sleep well',
      redirectUris: [REDIRECT_URI],
      homepageUrl: 'https://app.test',
      secretLast4: clientSecret.slice(-4),
      status: AppStatus.ACTIVE,
      requirePkce: false,
      description: '',
    });
    expect(app?.scopes).toHaveLength(22);
    await register({ name: 'Another' }, 'amy');
    const { apps } = await harness.apps.listApps({ clientId: app!.clientId }, await harness.as('amy'));
    expect(apps).toEqual([app]);
    expect(harness.consent.apps.get(app!.clientId)?.profile).toMatchObject({
      name: 'Sleep well',
      ownerId: 'amy',
    });
  });

  test('is sent to consent with a time that increases with every change, even when the clock stands still', async () => {
    const session = await harness.as('dora');
    const { app } = await register({ name: 'Diary' }, 'dora');
    const { clientId } = app!;
    const sentAt = () => timestampDate(harness.consent.apps.get(clientId)!.profile!.updatedAt!).getTime();
    const registeredAt = sentAt();
    await harness.apps.updateApp({ clientId, settings: { name: 'Broker' } }, session);
    const renamedAt = sentAt();
    expect(renamedAt).toBeGreaterThan(registeredAt);
    const [read] = (await harness.apps.listApps({ clientId }, session)).apps;
    expect(timestampDate(read!.updatedAt!).getTime()).toBe(renamedAt);
  });

  test('names every invalid field', async () => {
    const refusal = await refusalOf(
      harness.apps.registerApp(
        {
          settings: {
            name: 'a\u202eb',
            redirectUris: ['http://app.test/', 'https://ok.test/'],
            scopes: ['read:everything'],
            description: 'x'.repeat(501),
            developerName: 'x'.repeat(101),
            homepageUrl: 'javascript:alert(1)',
            privacyPolicyUrl: 'http://app.test',
          },
        },
        await harness.as('amy'),
      ),
    );
    expect(refusal.violations.map(({ parameter }) => parameter).sort()).toEqual([
      'description',
      'developerName',
      'homepageUrl',
      'name',
      'privacyPolicyUrl',
      'redirectUris',
      'scopes',
    ]);
    const empty = await refusalOf(harness.apps.registerApp({}, await harness.as('amy')));
    expect(empty.violations.map(({ parameter }) => parameter)).toEqual(['name', 'redirectUris']);
  });

  test('stops exactly at the limit of a developer under concurrent registrations', async () => {
    const owner = newId('dev');
    const { won, lost } = await race(30, () => register({}, owner));
    expect(won).toHaveLength(15);
    expect(lost).toEqual(Array(15).fill('conflict'));
    expect((await register({})).app?.clientId).toMatch(/^app_/);
  });

  test('registers nothing while the ledger is unavailable', async () => {
    const owner = newId('dev');
    harness.consent.away.add('putApp');
    expect(await reasonOf(register({}, owner))).toBe('unavailable');
    harness.consent.away.clear();
    expect((await harness.apps.listApps({}, await harness.as(owner))).total).toBe(0);
  });

  test('needs a session', async () => {
    expect(await reasonOf(harness.apps.registerApp({}))).toBe('unauthorized');
    expect(await reasonOf(harness.apps.listApps({}, await harness.as('amy', { aud: 'partners' })))).toBe(
      'unauthorized',
    );
  });
});

describe('the apps of a developer', () => {
  test('are listed newest first, in pages', async () => {
    const owner = newId('dev');
    for (const name of ['one', 'two', 'three']) {
      harness.clock.advance(1_000);
      await register({ name }, owner);
    }
    const session = await harness.as(owner);
    const list = async (page: number, pageSize: number) =>
      harness.apps.listApps({ page: { page, pageSize } }, session);
    expect((await list(1, 2)).apps.map(({ name }) => name)).toEqual(['three', 'two']);
    expect((await list(2, 2)).apps.map(({ name }) => name)).toEqual(['one']);
    expect(await list(9, 2)).toMatchObject({ apps: [], total: 3 });
  });

  test('are not found for other developers', async () => {
    const { app } = await register({}, 'amy');
    const clientId = app!.clientId;
    const bob = await harness.as('bob');
    const calls = [
      harness.apps.listApps({ clientId }, bob),
      harness.apps.updateApp({ clientId, settings: { name: 'mine' } }, bob),
      harness.apps.rotateSecret({ clientId }, bob),
      harness.apps.setAppStatus({ clientId, status: AppStatus.REVOKED }, bob),
      harness.apps.listApps({ clientId: newId('app') }, bob),
      harness.apps.listApps({ clientId: 'nonsense\0' }, bob),
    ];
    expect(new Set(await Promise.all(calls.map(reasonOf)))).toEqual(new Set(['not_found']));
  });
});

describe('an update', () => {
  test('replaces the fields sent, shows them to people, and keeps the rest', async () => {
    const { app } = await register({ description: 'old', scopes: [HEART] }, 'amy');
    const session = await harness.as('amy');
    const { app: updated } = await harness.apps.updateApp(
      { clientId: app!.clientId, settings: { name: 'New', description: '', requirePkce: true } },
      session,
    );
    expect(updated).toMatchObject({ name: 'New', description: '', requirePkce: true, scopes: [HEART] });
    expect(harness.consent.apps.get(app!.clientId)?.profile?.name).toBe('New');
  });

  test('may keep a redirect URI that an earlier rule accepted, but not add a similar one', async () => {
    const { app } = await register({}, 'amy');
    const clientId = app!.clientId;
    const [old, added] = ['https://App.test/cb', 'https://app.test/added'];
    const owner = await harness.connect();
    await owner.query('UPDATE app SET redirect_uris = $1 WHERE client_id = $2', [[old], clientId]);
    const update = async (redirectUris: string[]) =>
      harness.apps.updateApp({ clientId, settings: { redirectUris } }, await harness.as('amy'));
    expect((await update([old, added])).app?.redirectUris).toEqual([old, added]);
    const refusal = await refusalOf(update([old, 'https://App.test/other']));
    expect(refusal.violations).toEqual([
      { parameter: 'redirectUris', message: expect.stringContaining('entry 2 ') },
    ]);
    expect((await update([added])).app?.redirectUris).toEqual([added]);
    expect(await reasonOf(update([old]))).toBe('invalid_request');
  });

  test('cannot have a redirect URI at the service itself, when the app is registered or later', async () => {
    const violations = [
      { parameter: 'redirectUris', message: 'entry 2 must not be an address of this service' },
    ];
    const redirectUris = [REDIRECT_URI, `${ISSUER}/docs`];
    const owner = newId('dev');
    expect(await refusalOf(register({ redirectUris }, owner))).toMatchObject({ violations });
    const { app } = await register({}, owner);
    const request = { clientId: app!.clientId, settings: { redirectUris } };
    const update = harness.apps.updateApp(request, await harness.as(owner));
    expect(await refusalOf(update)).toMatchObject({ violations });
  });

  test('that did not reach the ledger is completed by a retry', async () => {
    const { app } = await register({}, 'amy');
    const update = async () =>
      harness.apps.updateApp({ clientId: app!.clientId, settings: { name: 'New' } }, await harness.as('amy'));
    harness.consent.away.add('putApp');
    expect(await reasonOf(update())).toBe('unavailable');
    harness.consent.away.clear();
    await update();
    expect(harness.consent.apps.get(app!.clientId)?.profile?.name).toBe('New');
  });
});

describe('the name of a developer', () => {
  test('an app takes the name of its developer by the rules of the app’s name, and reports it to consent with the description, also when they are removed', async () => {
    const { app } = await register({ developerName: ' Pulse GmbH ', description: 'Draws a\ndiary.' }, 'amy');
    expect(app).toMatchObject({ developerName: 'Pulse GmbH', description: 'Draws a\ndiary.' });
    const profileAtConsent = () => harness.consent.apps.get(app!.clientId)?.profile;
    expect(profileAtConsent()).toMatchObject({
      developerName: 'Pulse GmbH',
      description: 'Draws a\ndiary.',
    });
    for (const developerName of ['a\u202eb', 'One\nTwo', '···']) {
      const refusal = await refusalOf(register({ developerName }, 'amy'));
      expect(refusal.violations.map(({ parameter }) => parameter)).toEqual(['developerName']);
    }
    const settings = { developerName: '', description: '' };
    await harness.apps.updateApp({ clientId: app!.clientId, settings }, await harness.as('amy'));
    // Sent although it is empty: an absent text would mean that it is not known.
    expect(profileAtConsent()).toMatchObject({ developerName: '', description: '' });
  });
});
