import { beforeAll, expect, test } from '@jest/globals';
import { SCOPE_NAMES } from '@phds/catalog/scopes';
import { expectStatus, type PartnerApp, REDIRECT_URI, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { type Screen, Visitor } from '@phds/running-system/visitor';
import type { Locator, Route } from 'playwright-core';
import { ApprovalScreen, openApproval } from '../src/approval-screen.ts';
import { Keyboard } from '../src/keyboard.ts';
import { describeWithChromium, prepareVisits } from '../src/visits.ts';

const HEART = 'read:health-data:heart';
const WITHOUT_SCROLLING = { screen: 'desktop', screenfuls: 1 } as const;
const WITH_ONE_SCROLL = { screen: 'phone', screenfuls: 2 } as const;
const ON_A_PHONE = { screen: 'phone', screenfuls: 1 } as const;

const visits = prepareVisits();
let developer: string;
let app: PartnerApp;

beforeAll(async () => {
  developer = await signIn(visits.stack, 'developer');
  app = await registerApp(visits.stack.gateway, developer, { name: 'Morning Run' });
});

/** The service receives and processes the request, but its response is lost. */
async function loseAnswer(route: Route): Promise<void> {
  await route.fetch();
  await route.abort('connectionreset');
}

describeWithChromium('the approval screen', () => {
  let session: string;

  beforeAll(async () => {
    session = await signIn(visits.stack, 'web-approval-ada');
  });

  test('of an app with the longest name and all scopes fits a small phone', async () => {
    const long = await registerApp(visits.stack.gateway, developer, { name: 'Wellbeing'.repeat(11) });
    const purpose = `To ${'understand '.repeat(15)}you.`;
    const { body } = expectStatus(201, await long.authorize([...SCOPE_NAMES], { purpose }));
    const visitor = await visits.open(body.approval_uri, { session, screen: 'phone' });
    await visitor.page.setViewportSize({ width: 320, height: 640 });
    expect(await visitor.findOverflow()).toEqual([]);
  });

  test('has a low bar that leads to the summary while that is off the screen', async () => {
    const { page, screen, find } = await openApproval(visits, app, 'guards-bar', [
      HEART,
      'read:mood',
      'read:weight',
    ]);
    await page.setViewportSize({ width: 320, height: 568 });
    await screen.toggle('Heart');
    const review = page.getByRole('button', { name: 'Review choices' });
    await review.waitFor();
    expect((await review.locator('..').boundingBox())?.height).toBeLessThan(568 / 6);
    await page.evaluate('scrollTo(0, 0)');
    await review.click();
    await screen.summary.and(page.locator(':focus')).waitFor();
    await review.waitFor({ state: 'hidden' });
    expect((await find()).status).toBe('pending');
  });

  test('claims a request with its own origin, and an approval whose answer is lost still reaches the app, with the choices made', async () => {
    const opened = await openApproval(visits, app, 'lost-approval', [HEART, 'read:weight'], {
      state: 'a state',
    });
    const { page, screen, visitor } = opened;
    // For browsers without Fetch Metadata.
    const claiming = page.waitForRequest((request) => request.url().includes('/partner/consent/pending/'));
    await page.reload();
    const referer = (await (await claiming).headerValue('referer')) ?? '';
    expect(referer.startsWith(`${visits.stack.gateway}/`)).toBe(true);
    await screen.choose('Heart');
    await page.route('**/approve', loseAnswer, { times: 1 });
    await screen.share.click();
    await page.getByRole('heading', { name: "You're sharing with Morning Run" }).waitFor();
    const goOn = page.getByRole('button', { name: 'Continue to Morning Run' });
    const callback = await visitor.leave(() => goOn.click());
    expect(callback.searchParams.get('state')).toBe('a state');
    const code = callback.searchParams.get('code') ?? '';
    expect(expectStatus(200, await app.exchange(code)).body.scope).toBe(HEART);
  });

  test('cannot be framed, and a foreign page cannot act', async () => {
    const { approval_uri, pending_id } = expectStatus(201, await app.authorize([HEART])).body;
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
  'the first screen of a request answers in ten seconds who, what, how long, how far back, how to stop and what a no means',
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
      return (await openApproval(visits, tracker, user, scopes, parameters)).visitor;
    };

    /** The elements that a phone shows without scrolling, in either language. */
    const findFirst = ({ page }: Visitor): Readonly<Record<string, Locator[]>> => ({
      who: [
        page.getByRole('heading', { level: 1 }),
        page.getByText(/^(You'll return to|Sie kehren zurück zu) localhost:9999/),
      ],
      'how long, and how to stop': [
        page.getByText(/^(Until .* access ends immediately|Bis .* der Zugriff endet sofort)\.$/),
      ],
      'what if I say no': [
        page.getByText(/^(If you (don't share|change nothing)|Wenn Sie nichts (freigeben|ändern))/),
      ],
    });

    /** The elements that answer every question. */
    const findAnswers = (visitor: Visitor): Readonly<Record<string, Locator[]>> => {
      const { page, life, lookBack } = new ApprovalScreen(visitor.page);
      const what = page.getByRole('region', { name: 'What to share' });
      return {
        ...findFirst(visitor),
        what: [
          what.getByRole('heading', { name: 'You choose what to share' }),
          what.locator('legend, h3').first(),
          what.locator('legend, h3').last(),
        ],
        'how long': [life, page.getByText(/^Stops automatically on/)],
        'how far back': [lookBack],
      };
    };

    /** How much of a screen the bar that leads to the summary leaves free. */
    const findRoom = async ({ page }: Visitor): Promise<number> => {
      const { height } = page.viewportSize() ?? { height: 0 };
      const [bar] = await page
        .getByRole('button', { name: /^(Review choices|Auswahl prüfen)$/ })
        .locator('..')
        .all();
      return height - ((await bar?.boundingBox())?.height ?? 0);
    };

    /** The answers that are not wholly within the first screens. */
    const findBelow = async (
      visitor: Visitor,
      { screen, screenfuls }: { readonly screen: Screen; readonly screenfuls: number },
      answers: Readonly<Record<string, Locator[]>>,
    ) => {
      await visitor.lookAs(screen);
      const end = screenfuls * (await findRoom(visitor));
      const below: string[] = [];
      for (const [question, elements] of Object.entries(answers)) {
        for (const element of elements) {
          const { y, height } = (await element.boundingBox()) ?? { y: Number.NaN, height: 0 };
          if (!(y + height <= end)) below.push(`${question}: ${y + height} of ${end}`);
        }
      }
      return below;
    };
    /** How many presses of Tab lead to the button that shares. */
    const countStops = ({ page }: Visitor) => new Keyboard(page).tabTo(new ApprovalScreen(page).share);
    const expectAnswers = async (visitor: Visitor, name: string) => {
      for (const way of [WITHOUT_SCROLLING, WITH_ONE_SCROLL])
        expect([way.screen, await findBelow(visitor, way, findAnswers(visitor))]).toEqual([way.screen, []]);
      for (const language of ['de', 'en'] as const) {
        await visitor.speak(language);
        expect([language, await findBelow(visitor, ON_A_PHONE, findFirst(visitor))]).toEqual([language, []]);
      }
      await visitor.takePictures(name);
    };

    test('all 22 scopes', async () => {
      const visitor = await open('first-all', SCOPE_NAMES);
      expect(await visitor.page.getByRole('checkbox').count()).toBe(0);
      await expectAnswers(visitor, 'ten-seconds-all-scopes');
      expect(await countStops(visitor)).toBe(12);
    });

    test('of 3 and 12 scopes', async () => {
      for (const count of [3, 12])
        await expectAnswers(
          await open(`first-${count}`, SCOPE_NAMES.slice(0, count)),
          `ten-seconds-${count}-scopes`,
        );
    });

    test.each([2, 12, 22])('an existing connection and %i scopes', async (count) => {
      const session = await signIn(visits.stack, `first-connected-${count}`);
      await tracker.connect(session, [HEART, 'read:mood'], { expiresInDays: 365, dataFrom: '2026-01-01' });
      const scopes = count === 2 ? [HEART, 'read:weight'] : SCOPE_NAMES.slice(0, count);
      const visitor = await open(`first-connected-${count}`, scopes);
      await expectAnswers(visitor, `ten-seconds-existing-connection-${count}`);
      if (count === 22) expect(await countStops(visitor)).toBe(13);
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
    const { session, visitor, page, screen, keyboard, button, screenUrl } = await open('keys-life', MANY);
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

    await visitor.goto(screenUrl);
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
    const back = await third.visitor.leave(() => third.keyboard.activate(third.screen.deny));
    expect(back.searchParams.get('error')).toBe('access_denied');
  });
});
