import { beforeAll, expect, test } from '@jest/globals';
import { SCOPE_NAMES } from '@phds/catalog/scopes';
import { expectStatus, type PartnerApp, REDIRECT_URI, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { type Screen, Visitor } from '@phds/running-system/visitor';
import type { Locator } from 'playwright-core';
import { ApprovalScreen, openApproval } from '../src/approval-screen.ts';
import { Keyboard } from '../src/keyboard.ts';
import { pickPerson } from '../src/sign-in-page.ts';
import { describeWithChromium, prepareVisits } from '../src/visits.ts';

const HEART = 'read:health-data:heart';
const SUMMARIES = ['read:aggregations', 'read:trends'];
const WITHOUT_SCROLLING = { screen: 'desktop', screenfuls: 1 } as const;
const WITH_ONE_SCROLL = { screen: 'phone', screenfuls: 2 } as const;
const MINUTE_MS = 60_000;

const visits = prepareVisits();
let developer: string;
let app: PartnerApp;

beforeAll(async () => {
  developer = await signIn(visits.stack, 'developer');
  app = await registerApp(visits.stack.gateway, developer, { name: 'Morning Run' });
});

describeWithChromium('the approval screen', () => {
  let session: string;

  beforeAll(async () => {
    session = await signIn(visits.stack, 'web-approval-ada');
  });

  const visit = (path: string, options: { session?: string; screen?: Screen } = { session }) =>
    visits.open(path, options);
  const ask = async (scopes: readonly string[], extra: Readonly<Record<string, string>> = {}) => {
    const { body } = expectStatus(201, await app.authorize([...scopes], extra));
    return body as { approval_uri: string; pending_id: string };
  };
  const press = (visitor: Visitor, name: RegExp) =>
    visitor.leave(() => visitor.page.getByRole('button', { name }).click());

  test('shows who requests what, with nothing chosen, accessibly on every screen size', async () => {
    const aud = `${visits.stack.gateway}/fhir/R4`;
    const words = `launch/patient patient/Patient.rs patient/Observation.rs?category=${aud}/CodeSystem/category`;
    const { approval_uri } = await ask([`${words}|heart`, 'read:mood', 'read:trends'], {
      ...{ purpose: 'To pace your runs.', aud },
      ...{ code_challenge: 'c'.repeat(43), code_challenge_method: 'S256' },
    });
    const visitor = await visit(approval_uri);
    const { page } = visitor;
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(
      'Morning Run wants to read your health data',
    );
    const facts = ['To pace your runs.', 'localhost:9999', "Morning Run's registered app sent this."];
    for (const text of facts) await page.getByText(text).first().waitFor();
    expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(0);
    // People see kinds of data, however the app asks for them.
    expect(await page.locator('main').textContent()).not.toMatch(/patient\/|fhir/i);
    const groups = page.getByRole('region', { name: 'What to share' }).locator('legend');
    expect(await groups.allTextContents()).toEqual([
      'Vital signs',
      'About you',
      'Very personal',
      'Summaries',
    ]);
    for (const screen of ['phone', 'desktop', 'dark'] as const) {
      await visitor.lookAs(screen);
      expect(await visitor.findBarriers()).toEqual([]);
      expect([await visitor.findOverflow(), await visitor.findOverflow(2)]).toEqual([[], []]);
    }
    await visitor.takePictures('approval');
  });

  test('leads from "connect" to data with the chosen scopes', async () => {
    const { approval_uri } = await ask([HEART, 'read:weight', 'read:profile'], { state: 'a state' });
    const visitor = await visit(approval_uri);
    const screen = new ApprovalScreen(visitor.page);
    await screen.choose('Heart', 'Weight by day');
    await screen.chooseLife('30 days');
    const callback = await press(visitor, /^Share 2 types of data$/);
    expect(callback.searchParams.get('state')).toBe('a state');
    const tokens = expectStatus(200, await app.exchange(callback.searchParams.get('code') ?? '')).body;
    expect(tokens.scope.split(' ').toSorted()).toEqual([HEART, 'read:weight']);
    expect((await app.read(tokens.access_token, '/api/v1/health-data/heart')).status).toBe(200);
    expect((await app.read(tokens.access_token, '/api/v1/profile')).status).toBe(403);
  });

  test('of an app with the longest name and all scopes fits a small phone', async () => {
    const long = await registerApp(visits.stack.gateway, developer, { name: 'Wellbeing'.repeat(11) });
    const purpose = `To ${'understand '.repeat(15)}you.`;
    const { body } = expectStatus(201, await long.authorize([...SCOPE_NAMES], { purpose }));
    const visitor = await visit(body.approval_uri, { session, screen: 'phone' });
    await visitor.takePictures('approval-long-name-everything-asked');
    await visitor.page.setViewportSize({ width: 320, height: 640 });
    expect(await visitor.findOverflow()).toEqual([]);
  });

  test('keeps every choice when the service is unreachable, and continues afterwards', async () => {
    const { approval_uri, pending_id } = await ask([HEART, 'read:mood', 'read:profile']);
    const visitor = await visit(approval_uri);
    const { page } = visitor;
    const screen = new ApprovalScreen(page);
    await screen.choose('Heart', 'Mood', 'Profile');
    await screen.chooseLife('Other');
    await page.getByRole('radiogroup', { name: 'For longer' }).getByText('365 days').click();
    await screen.chooseFirstDay('2026-01-01');
    await page.context().setOffline(true);
    await visitor.loseAnswer(() => screen.share.click());
    await page.getByRole('alert').getByText("We couldn't confirm that. Try again.").waitFor();
    await visitor.takePictures('approval-service-away');
    await page.context().setOffline(false);
    const pending = `${visits.stack.gateway}/partner/consent/pending/${pending_id}`;
    expect((await send(pending, { bearer: session })).body.data.status).toBe('pending');
    const code = (await press(visitor, /^Agree to these changes$/)).searchParams.get('code') ?? '';
    const { grant_id } = expectStatus(200, await app.exchange(code)).body;
    const grant = await send(`${visits.stack.gateway}/partner/consent/grants/${grant_id}`, {
      bearer: session,
    });
    expect(grant.body.data).toMatchObject({ dataFrom: '2026-01-01' });
    expect(grant.body.data.scopes).toContain('read:mood');
    expect(Date.parse(grant.body.data.expiresAt)).toBeGreaterThan(Date.now() + 364 * 86_400_000);
  });

  test('denies the request and confirms it', async () => {
    const { approval_uri } = await ask([HEART]);
    const callback = await press(await visit(approval_uri), /^Don't share$/);
    expect(callback.searchParams.get('error')).toBe('access_denied');
    const later = await visit(approval_uri);
    await later.page.getByRole('heading', { name: 'You declined' }).waitFor();
    expect(await later.findBarriers()).toEqual([]);
    await later.takePictures('approval-denied-before');
  });

  test('asks a signed-out person to sign in, shows nothing of the request, and returns afterwards', async () => {
    const { approval_uri } = await ask([HEART]);
    const visitor = await visit(approval_uri, {});
    expect(await visitor.page.content()).not.toContain('Morning Run');
    await visitor.takePictures('approval-signed-out');
    await visitor.page.getByRole('link', { name: 'Sign in' }).first().click();
    await visitor.page.waitForURL(`${visits.stack.identityProviderUrl}/**`);
    await pickPerson(visitor.page, 'web-approval-arrival');
    await visitor.page.waitForURL(approval_uri);
    await visitor.page.getByRole('heading', { level: 1, name: /Morning Run/ }).waitFor();
  });

  test('shows nothing of a request that another person has opened', async () => {
    const { approval_uri } = await ask([HEART]);
    await visit(approval_uri);
    const other = await visit(approval_uri, { session: await signIn(visits.stack, 'web-approval-mallory') });
    await other.page.getByRole('heading', { name: "This request isn't available" }).waitFor();
    expect(await other.page.content()).not.toContain('Morning Run');
    expect(await other.findBarriers()).toEqual([]);
    await other.takePictures('approval-claimed-by-somebody-else');
  });

  test('of an app that was revoked in the meantime keeps the choices and explains why', async () => {
    const brief = await registerApp(visits.stack.gateway, developer, { name: 'Brief' });
    const { body } = expectStatus(201, await brief.authorize([HEART]));
    const visitor = await visit(body.approval_uri);
    const setStatus = (status: string) =>
      send(`${brief.gateway}/developer/apps/${brief.clientId}/status`, {
        json: { status },
        bearer: developer,
      });
    await setStatus('suspended');
    const screen = new ApprovalScreen(visitor.page);
    await screen.choose('Heart');
    await screen.share.click();
    expect(await visitor.page.getByRole('alert').textContent()).toContain('Nothing was changed.');
    expect(await visitor.page.getByRole('checkbox', { checked: true }).count()).toBe(1);
    await visitor.takePictures('approval-app-suspended-meanwhile');
    await setStatus('revoked');
    const later = await visit(body.approval_uri);
    await later.page.getByRole('heading', { name: 'Brief is no longer active' }).waitFor();
    await later.takePictures('approval-app-revoked');
  });

  test('shows texts of apps as plain text', async () => {
    const hostile = await registerApp(visits.stack.gateway, developer, {
      name: '<img src=x onerror=alert(1)>',
    });
    const { body } = expectStatus(201, await hostile.authorize([HEART], { purpose: '"><b>x' }));
    const { page } = await visit(body.approval_uri);
    await page.getByText('"><b>x').waitFor();
    expect(await page.locator('main img, main b').count()).toBe(0);
  });

  test('cannot be framed, and a foreign page cannot act', async () => {
    const { approval_uri, pending_id } = await ask([HEART]);
    const foreign = await Visitor.open(visits.browser, { gateway: visits.stack.gateway, session });
    const attack = `<iframe src="${approval_uri}"></iframe>
<form method="post" action="${visits.stack.gateway}/partner/consent/pending/${pending_id}/approve"><button>win</button></form>`;
    await foreign.page.route('http://evil.example/**', (route) =>
      route.fulfill({ body: attack, contentType: 'text/html' }),
    );
    await foreign.page.goto('http://evil.example/', { waitUntil: 'load' });
    const frame = foreign.page.frames().find((candidate) => candidate !== foreign.page.mainFrame());
    expect(frame?.url()).toMatch(/^chrome-error:/);
    const answer = foreign.page.waitForResponse(/\/approve$/);
    await foreign.page.getByRole('button', { name: 'win' }).click();
    expect((await answer).status()).toBe(401);
    await foreign[Symbol.asyncDispose]();
    const url = `${visits.stack.gateway}/partner/consent/pending/${pending_id}`;
    expect((await send(url, { bearer: session })).body.data.status).toBe('pending');
  });
});

describeWithChromium(
  'the first screen of a request answers in ten seconds who, what, how long, how far back and how to stop',
  () => {
    let tracker: PartnerApp;

    beforeAll(async () => {
      const { stack } = visits;
      tracker = await registerApp(stack.gateway, await signIn(stack, 'developer'), {
        name: 'GlucoTrack',
        privacyPolicyUrl: 'https://glucotrack.example/privacy',
      });
    });

    /** The approval screen of a request with a purpose, opened by a link from the tracker. */
    const open = async (user: string, scopes: readonly string[]) => {
      const parameters = { purpose: 'To plan your meals and show your trends.' };
      return (await openApproval(visits, tracker, user, scopes, { parameters })).visitor;
    };

    /** The elements that answer the five questions. */
    const findAnswers = ({ page }: Visitor): Readonly<Record<string, Locator[]>> => {
      const { life, lookBack } = new ApprovalScreen(page);
      const what = page.getByRole('region', { name: 'What to share' });
      return {
        who: [page.getByRole('heading', { level: 1 }), page.getByText("You'll return to localhost:9999")],
        what: [
          what.getByRole('heading', { name: 'You choose what to share' }),
          what.locator('legend, h3').first(),
          what.locator('legend, h3').last(),
        ],
        'how long': [life, page.getByText(/^Stops automatically on/)],
        'how far back': [lookBack],
        'how to stop': [page.getByText(/Stop any time; access ends immediately\.$/)],
      };
    };

    /** How much of a screen the bar that leads to the summary leaves free. */
    const findRoom = async ({ page }: Visitor): Promise<number> => {
      const { height } = page.viewportSize() ?? { height: 0 };
      const [bar] = await page.getByRole('button', { name: 'Review choices' }).locator('..').all();
      return height - ((await bar?.boundingBox())?.height ?? 0);
    };

    /** The answers that are not wholly within the first screens. */
    const findBelow = async (
      visitor: Visitor,
      { screen, screenfuls }: typeof WITHOUT_SCROLLING | typeof WITH_ONE_SCROLL,
    ) => {
      await visitor.lookAs(screen);
      const end = screenfuls * (await findRoom(visitor));
      const below: string[] = [];
      for (const [question, elements] of Object.entries(findAnswers(visitor))) {
        for (const element of elements) {
          const { y, height } = (await element.boundingBox()) ?? { y: Number.NaN, height: 0 };
          if (!(y + height <= end)) below.push(`${question}: ${y + height} of ${end}`);
        }
      }
      return below;
    };
    const expectAnswers = async (visitor: Visitor, name: string) => {
      for (const way of [WITHOUT_SCROLLING, WITH_ONE_SCROLL]) {
        expect([way.screen, await findBelow(visitor, way)]).toEqual([way.screen, []]);
      }
      await visitor.takePictures(name);
    };

    test('one scope', async () => {
      await expectAnswers(await open('first-one', [HEART]), 'ten-seconds-one-scope');
    });

    test('all 22 scopes', async () => {
      const visitor = await open('first-all', SCOPE_NAMES);
      expect(await visitor.page.getByRole('checkbox').count()).toBe(0);
      await expectAnswers(visitor, 'ten-seconds-all-scopes');
    });

    test('an existing connection', async () => {
      const session = await signIn(visits.stack, 'first-connected');
      await tracker.connect(session, [HEART, 'read:mood'], { expiresInDays: 365, dataFrom: '2026-01-01' });
      const visitor = await open('first-connected', [HEART, 'read:weight']);
      await expectAnswers(visitor, 'ten-seconds-existing-connection');
    });

    test('an app that did not prove who it is', async () => {
      const url = new URL('/oauth/authorize', visits.stack.gateway);
      url.search = new URLSearchParams({
        response_type: 'code',
        client_id: tracker.clientId,
        redirect_uri: REDIRECT_URI,
        scope: `${HEART} read:weight`,
        code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
        code_challenge_method: 'S256',
      }).toString();
      const visitor = await visits.open(url.href, { session: await signIn(visits.stack, 'first-unproven') });
      await visitor.page.getByText("We couldn't confirm that GlucoTrack sent this.").waitFor();
      await expectAnswers(visitor, 'ten-seconds-unproven');
    });

    test('summaries', async () => {
      const visitor = await open('first-summaries', [HEART, ...SUMMARIES]);
      await visitor.page.getByText('Includes types you did not select.').waitFor();
      await expectAnswers(visitor, 'ten-seconds-summaries');
    });
  },
);

const MANY = [
  HEART,
  'read:health-data:sleep',
  'read:health-data:activity',
  'read:weight',
  'read:mood',
  'read:medications',
  'read:trends',
];

describeWithChromium('with the keyboard and the roles of a screen reader alone, an approval', () => {
  const open = async (user: string, scopes: readonly string[]) => {
    const opened = await openApproval(visits, app, user, scopes);
    const { page } = opened;
    const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true });
    return { ...opened, keyboard: new Keyboard(page), button };
  };

  test('is read, previewed, made, seen again, changed by a second one, and declined by a third', async () => {
    const { session, visitor, page, screen, keyboard, button, approvalUri } = await open('keys-life', MANY);
    // Every question has a role and a name.
    await page
      .getByRole('heading', { level: 1, name: 'Morning Run wants to read your health data' })
      .waitFor();
    const what = page.getByRole('region', { name: 'What to share' });
    await what.getByText('Nothing is selected yet.').waitFor();
    const activity = button(/^Activity, sleep and body/);
    expect(await activity.getAttribute('aria-expanded')).toBe('false');
    await keyboard.activate(activity);
    await keyboard.tabTo(
      page.getByRole('group', { name: 'Activity, sleep and body' }).getByRole('checkbox').first(),
    );
    await keyboard.press('Space');
    await screen.summary.getByText(/can read your activity, including new data/).waitFor();
    await what.getByText('1 of 7 selected').waitFor();
    expect(await what.getByText('Nothing is selected yet.').count()).toBe(0);

    await keyboard.activate(button('Preview Activity'));
    const sheet = page.getByRole('dialog', { name: 'Preview: Activity' });
    await keyboard.waitForFocusIn(sheet);
    await keyboard.press('Escape');
    await sheet.waitFor({ state: 'detached' });
    await button('Preview Activity').and(page.locator(':focus')).waitFor();

    await keyboard.activate(button(/^Very personal/));
    await keyboard.tabTo(screen.scope('Mood'));
    await keyboard.press('Space');
    // The chosen radio button of each group is a stop; arrows choose another.
    await keyboard.tabTo(screen.life.getByRole('radio', { checked: true }));
    await keyboard.press('ArrowLeft');
    await keyboard.tabTo(screen.lookBack.getByRole('radio', { checked: true }));
    await keyboard.press('ArrowRight');
    expect(await screen.limits()).toEqual(['30 days', 'Everything']);
    await keyboard.tabTo(screen.deny);
    const arrival = await visitor.leave(() => keyboard.activate(button('Share 2 types of data')));
    const { body } = expectStatus(200, await app.exchange(arrival.searchParams.get('code') ?? ''));
    expect(body.scope.split(' ')).toEqual(['read:health-data:activity', 'read:mood']);

    await visitor.goto(approvalUri);
    await page.getByRole('heading', { name: "You're sharing with Morning Run" }).waitFor();
    expect(await page.getByRole('definition').first().textContent()).toBe('Activity and Mood');
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('approval-approved-before');

    const second = await open('keys-life', ['read:mood', HEART]);
    await second.keyboard.tabTo(second.screen.scope('Heart'));
    await second.keyboard.press('Space');
    await second.keyboard.tabTo(second.screen.scope('Mood'));
    await second.keyboard.press('Space');
    await second.screen.changes.getByRole('listitem').getByText('Mood will stop.').waitFor();
    await second.visitor.leave(() => second.keyboard.activate(second.button('Agree to these changes')));
    const grant = await send(`${app.gateway}/partner/consent/grants/${body.grant_id}`, { bearer: session });
    expect(grant.body.data.scopes).toEqual([HEART, 'read:health-data:activity']);

    const third = await open('keys-life', ['read:mood']);
    const back = await third.visitor.leave(() => third.keyboard.activate(third.button("Don't share")));
    expect(back.searchParams.get('error')).toBe('access_denied');
  });

  test('is given to another account', async () => {
    const { page, keyboard, button, approvalUri } = await open('keys-switcher', [HEART]);
    const left = page.waitForRequest((request) => request.url().includes('/sign-in?'));
    await keyboard.activate(button('Switch account'));
    const { pathname, searchParams } = new URL((await left).url());
    const path = new URL(approvalUri).pathname;
    expect([pathname, searchParams.get('return_to'), searchParams.get('switch')]).toEqual([
      '/sign-in',
      path,
      '1',
    ]);
    const session = await signIn(visits.stack, 'keys-other');
    const other = await visits.open(approvalUri, { session });
    await other.page.getByRole('heading', { name: 'Morning Run wants to read your health data' }).waitFor();
  });

  test('whose removed scope was narrowed elsewhere keeps it removed', async () => {
    const session = await signIn(visits.stack, 'keys-undecided');
    const { grantId } = await app.connect(session, ['read:weight', 'read:profile', 'read:mood']);
    const { page, visitor, screen, keyboard, button } = await open('keys-undecided', [
      HEART,
      'read:weight',
      'read:profile',
    ]);
    expect(await screen.count()).toBe('Agree');
    const url = `${visits.stack.gateway}/partner/consent/grants/${grantId}`;
    const less = { scopes: ['read:profile'], dataFrom: '2026-02-01' };
    expectStatus(200, await send(url, { method: 'PATCH', json: less, bearer: session }));
    // As if returning from another window.
    await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))");
    await screen.lookBack.getByText('As now, from 1 Feb 2026').waitFor();
    await page.getByRole('status').getByText('has changed since you opened this page').waitFor();
    await keyboard.activate(button('Agree'));
    await screen.summary.and(page.locator(':focus')).waitFor();
    await visitor.leave(() => keyboard.activate(button('Agree')));
    expect((await send(url, { bearer: session })).body.data).toMatchObject(less);
  });

  test('previews the data of a scope in a sheet, and the choices stay', async () => {
    const { visitor, page, screen } = await open('keys-previewer', [HEART, 'read:weight']);
    await screen.toggle('Weight by day');
    const preview = page.getByRole('button', { name: 'Preview Heart' });
    await preview.click();
    const sheet = page.getByRole('dialog', { name: 'Preview: Heart' });
    await sheet.locator('[data-loading]').waitFor({ state: 'detached' });
    await sheet.getByText(/^Only data from .* on\.$/).waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('approval-preview');
    await sheet.getByRole('button', { name: 'Close' }).click();
    await preview.and(page.locator(':focus')).waitFor();
    await screen.chooseLookBack('From today');
    const asked = page.waitForRequest(/consent\/preview/);
    await preview.click();
    const today = await page.evaluate("new Date().toLocaleDateString('sv')");
    expect(new URL((await asked).url()).searchParams.get('dataFrom')).toBe(today);
    await sheet.getByRole('button', { name: 'Close' }).click();
    expect(await screen.count()).toBe('Share 1 type of data');
  });

  test('keeps the choices when the preview cannot be loaded', async () => {
    const { visitor, page, screen } = await open('keys-unlucky', [HEART]);
    await screen.toggle('Heart');
    await page.route('**/assets/scope-preview*.js', (route) => route.abort());
    await page.getByRole('button', { name: 'Preview Heart' }).click();
    const sheet = page.getByRole('dialog');
    await sheet.getByText('The preview could not be loaded.').waitFor();
    await sheet.getByRole('button', { name: 'Close' }).click();
    expect(await screen.count()).toBe('Share 1 type of data');
    // The blocked script.
    visitor.complaints.length = 0;
  });
});

describeWithChromium('switching the account on the approval screen', () => {
  /** Opens a request on a page whose clock the test moves, and whose navigation to the sign-in page does not succeed. */
  const open = async (user: string) => {
    const { page, url } = await openApproval(visits, app, user, [HEART], { movableClock: true });
    await page.getByRole('heading', { name: 'Morning Run wants to read your health data' }).waitFor();
    const reads: string[] = [];
    page.on('request', (request) => {
      if (request.url() === url) reads.push(request.method());
    });
    const switchAccount = page.getByRole('button', { name: 'Switch account' });
    await page.route('**/sign-in?*', (route) => route.fulfill({ status: 204 }));
    return {
      page,
      url,
      reads,
      switchAccount,
      /** Switches, and returns the sign-in page that the page goes to. */
      leave: async () => {
        const left = page.waitForRequest((request) => request.url().includes('/sign-in?'));
        await switchAccount.click();
        return new URL((await left).url());
      },
      // As if returning from another window.
      focus: () => page.evaluate("window.dispatchEvent(new Event('visibilitychange'))"),
      /** Afterwards every request that the page has begun before is known. */
      settle: () => page.evaluate("fetch('/partner/consent/pending').then(({ status }) => status)"),
    };
  };

  test('the page that gave the request back does not claim it again before it is left', async () => {
    const { page, url, reads, leave, focus, settle } = await open('switch-leaver');
    await leave();
    reads.length = 0;
    await focus();
    await page.clock.fastForward(10.5 * MINUTE_MS);
    await page.getByText('The time for this request is over.').waitFor();
    await page.clock.runFor(7_000);
    expect(await settle()).toBe(200);
    expect(reads).toEqual([]);
    const other = await send(url, { bearer: await signIn(visits.stack, 'switch-next') });
    expect(expectStatus(200, other).body.data.status).toBe('pending');
  });

  test.each([
    [401, 'UNAUTHENTICATED'],
    [429, 'RATE_LIMITED'],
    [409, 'CONFLICT'],
  ])(
    'a release refused with %i %s leaves the person on the page, says so, and the page reads again',
    async (status, code) => {
      const { page, reads, switchAccount, focus } = await open(`switch-refused-${status}`);
      await page.route('**/release', (route) => route.fulfill({ status, json: { code, detail: 'No.' } }));
      await switchAccount.click();
      await page.getByRole('alert').getByText('The account was not switched.').waitFor();
      const read = page.waitForResponse((response) => /pending\/[^/]+$/.test(response.url()));
      await focus();
      await read;
      expect(reads).not.toEqual([]);
      expect(new URL(page.url()).pathname).toMatch(/^\/approve\//);
    },
  );

  test.each([
    [404, 'NOT_FOUND'],
    [409, 'ALREADY_DECIDED'],
    [409, 'PENDING_EXPIRED'],
  ])(
    'a release answered with %i %s leads to the sign-in, because there is nothing to give back',
    async (status, code) => {
      const { page, leave } = await open(`switch-${code.toLowerCase().replaceAll('_', '-')}`);
      await page.route('**/release', (route) => route.fulfill({ status, json: { code, detail: 'No.' } }));
      expect((await leave()).searchParams.get('switch')).toBe('1');
    },
  );
});
