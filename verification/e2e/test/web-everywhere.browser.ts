import { beforeAll, expect, test } from '@jest/globals';
import { SCOPE_NAMES } from '@phds/catalog/scopes';
import { ingestReadings } from '@phds/running-system/ingestion';
import { expectStatus, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { useSharedSandbox } from '@phds/running-system/shared-stack';
import type { Visitor } from '@phds/running-system/visitor';
import { createProofKey } from '@phds/test-kit/dpop-proofs';
import { findHiddenStops, findSmallTargets, unfold } from '../src/page-checks.ts';
import { describeWithChromium, prepareVisits } from '../src/visits.ts';

const HEART = 'read:health-data:heart';
const DAY_MS = 86_400_000;
/** More reads than one page of the history shows. */
const READS = 22;

/** Every page, with the ids of what `beforeAll` creates. */
const PAGES = [
  '/',
  '/history',
  '/apps',
  '/apps/:grant',
  '/apps/:ended',
  '/data',
  '/data/read:aggregations',
  '/data/read:medications',
  '/console',
  '/console/new',
  '/console/:app',
  '/console/:app/credentials',
  '/console/:app/log',
  '/console/:app/webhook',
  '/console/:app/settings',
  '/console/:sandboxApp/sandbox',
  '/signed-in',
  '/approve/:pending',
  '/no/such/page',
  // Messages of the gateway.
  '/sign-in/callback',
  '/oauth/authorize?client_id=unknown',
] as const;

/** The name of the pictures of a page: its path with dashes. */
const toName = (path: string) => (path === '/' ? 'start' : path.slice(1).replaceAll(/\W+/g, '-'));

const aTime = '2026-03-02T07:00:00.000Z';
const medicine = { name: 'Metformin', dosage: '500 mg', frequency: 'with breakfast and dinner' };
const dose = { medication: 'Metformin', scheduledAt: aTime, status: 'skipped', takenAt: null };
/** A preview with an item of each kind of value and a day that is not over. */
const MEDICATIONS = {
  ...{ scope: 'read:medications', total: 1 },
  newest: [{ id: 'med_1', ...medicine, condition: null, pattern: 'BID' }],
  doses: { total: 9, newest: [{ ...dose, dose: null, reason: 'Felt fine' }] },
  trend: [0, 1, 2].map((days) => ({
    ...{ type: 'Steps', unit: '{steps}', count: 3, value: 7_000, min: 1, max: 7_000 },
    start: new Date(Date.now() - days * DAY_MS).toISOString(),
    end: new Date(Date.now() + (1 - days) * DAY_MS).toISOString(),
  })),
};

describeWithChromium('every page', everyPage);

function everyPage(): void {
  const visits = prepareVisits();
  const sandbox = prepareVisits(useSharedSandbox);
  const ids: Record<string, string> = {};
  let session: string;
  let sandboxSession: string;

  beforeAll(async () => {
    const { stack } = visits;
    session = await signIn(stack, 'web-everywhere-ada');
    const readings = Array.from({ length: 20 }, (_, day) => ({
      type: 'Heart Rate',
      start: new Date(Date.now() - day * DAY_MS).toISOString(),
      value: 60 + (day % 7),
      source: 'apple-watch',
    }));
    await ingestReadings(stack, 'web-everywhere-ada', readings);
    const app = await registerApp(stack.gateway, session, { name: 'Morning Run with a Rather Long Name' });
    const tokens = await app.connect(session, [HEART, 'read:mood', 'read:weight']);
    for (let read = 0; read < READS; read += 1)
      await app.read(tokens.accessToken, '/api/v1/health-data/heart');
    await app.read(tokens.accessToken, '/api/v1/profile');
    ids['app'] = app.clientId;
    const { publicJwk } = await createProofKey();
    const jwks = { keys: [{ ...publicJwk, kid: 'the-key-of-this-year' }] };
    const url = `${stack.gateway}/developer/apps/${app.clientId}`;
    expectStatus(200, await send(url, { method: 'PATCH', json: { jwks }, bearer: session }));
    sandboxSession = await signIn(sandbox.stack, 'web-everywhere-developer');
    ids['sandboxApp'] = (await registerApp(sandbox.stack.gateway, sandboxSession)).clientId;
    ids['grant'] = tokens.grantId;
    ids['pending'] = expectStatus(201, await app.authorize(SCOPE_NAMES)).body.pending_id;
    // The first person who opens a request claims it, so that it waits on the start page.
    const pendingUrl = `${stack.gateway}/partner/consent/pending/${ids['pending']}`;
    expectStatus(200, await send(pendingUrl, { bearer: session }));
    const ended = await registerApp(stack.gateway, session, {
      name: 'Ended',
      privacyPolicyUrl: 'https://one.example/',
    });
    const { grantId, accessToken } = await ended.connect(session, [HEART]);
    await ended.read(accessToken, '/api/v1/health-data/heart');
    const change = {
      name: 'Ended and Renamed',
      privacyPolicyUrl: `https://two.example/${'a-rather-long-path'.repeat(4)}`,
    };
    const endedUrl = `${stack.gateway}/developer/apps/${ended.clientId}`;
    expectStatus(200, await send(endedUrl, { method: 'PATCH', json: change, bearer: session }));
    const grantUrl = `${stack.gateway}/partner/consent/grants/${grantId}`;
    expectStatus(200, await send(grantUrl, { method: 'DELETE', bearer: session }));
    // A blocked read.
    await ended.read(accessToken, '/api/v1/health-data/heart');
    ids['ended'] = grantId;
  });

  const openPage = (path: string): Promise<Visitor> => {
    const filled = path.replace(/:(\w+)/, (_, name: string) => ids[name] ?? '');
    return path.includes(':sandboxApp')
      ? sandbox.open(filled, { session: sandboxSession, screen: 'narrow' })
      : visits.open(filled, { session, screen: 'narrow' });
  };

  test.each(PAGES)(
    '%s, unfolded, in each language, in light and dark, fits on the narrowest phone also with text twice as large, has no barrier, and shows the focus',
    async (path) => {
      const visitor = await openPage(path);
      const { page } = visitor;
      if (path.endsWith('read:medications')) {
        await page.route('**/partner/consent/preview*', (route) =>
          route.fulfill({ json: { data: MEDICATIONS } }),
        );
        await visitor.goto(path);
      }
      expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1);
      const expectToFit = async () =>
        expect([await visitor.findOverflow(), await visitor.findOverflow(2)]).toEqual([[], []]);
      await expectToFit();
      await unfold(page);
      // The console is in English only.
      for (const language of path.startsWith('/console') ? [null] : (['de', 'en'] as const)) {
        if (language !== null) await visitor.speak(language);
        await expectToFit();
        expect(await findSmallTargets(page)).toEqual([]);
      }
      for (const [screen, rules] of [
        ['narrow', 'all'],
        ['dark', 'colors'],
      ] as const) {
        await visitor.lookAs(screen);
        expect(await visitor.findBarriers(rules)).toEqual([]);
      }
      await visitor.lookAs('narrow');
      expect(await findHiddenStops(page)).toEqual([]);
      await visitor.takePictures(toName(path));
    },
  );
}
