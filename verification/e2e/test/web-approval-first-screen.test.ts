import { beforeAll, expect, test } from '@jest/globals';
import { SCOPE_NAMES } from '@phds/catalog/scopes';
import { expectStatus, type PartnerApp, REDIRECT_URI, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import type { Visitor } from '@phds/running-system/visitor';
import type { Locator } from 'playwright-core';
import { ApprovalScreen } from '../src/approval-screen.ts';
import { describeWithChromium, prepareVisits } from '../src/visits.ts';

const HEART = 'read:health-data:heart';
const SUMMARIES = ['read:aggregations', 'read:trends'];
const WITHOUT_SCROLLING = { screen: 'desktop', screenfuls: 1 } as const;
const WITH_ONE_SCROLL = { screen: 'phone', screenfuls: 2 } as const;

describeWithChromium(
  'the first screen of a request answers in ten seconds who, what, how long, how far back and how to stop',
  tenSeconds,
);

function tenSeconds(): void {
  const visits = prepareVisits();
  let app: PartnerApp;

  beforeAll(async () => {
    const { stack } = visits;
    app = await registerApp(stack.gateway, await signIn(stack, 'developer'), {
      name: 'GlucoTrack',
      privacyPolicyUrl: 'https://glucotrack.example/privacy',
    });
  });

  /** The approval screen of a request with a purpose, opened by a link from the app. */
  const open = async (user: string, scopes: readonly string[]) => {
    const { body } = expectStatus(
      201,
      await app.authorize(scopes, { purpose: 'To plan your meals and show your trends.' }),
    );
    return visits.open(body.approval_uri, { session: await signIn(visits.stack, user) });
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
    await app.connect(session, [HEART, 'read:mood'], { expiresInDays: 365, dataFrom: '2026-01-01' });
    const visitor = await open('first-connected', [HEART, 'read:weight']);
    await expectAnswers(visitor, 'ten-seconds-existing-connection');
  });

  test('an app that did not prove who it is', async () => {
    const url = new URL('/oauth/authorize', visits.stack.gateway);
    url.search = new URLSearchParams({
      response_type: 'code',
      client_id: app.clientId,
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
}
