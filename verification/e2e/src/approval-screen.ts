import { expectStatus, type PartnerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import type { Locator, Page } from 'playwright-core';
import type { Visits } from './visits.ts';

/** The approval screen in English, by the roles and names that a screen reader announces. */
export class ApprovalScreen {
  readonly page: Page;
  /** The button that shares, also while nothing is chosen. */
  readonly share: Locator;
  readonly deny: Locator;
  /** What an approval would allow. */
  readonly summary: Locator;
  /** What would change for an existing connection. */
  readonly changes: Locator;
  readonly life: Locator;
  readonly lookBack: Locator;
  /** Present after “Choose a date”. */
  readonly firstDay: Locator;

  constructor(page: Page) {
    this.page = page;
    this.share = page.getByRole('button', {
      name: /^(Share( \d+ types? of data)?|Agree( to these changes)?)$/,
    });
    this.deny = page.getByRole('button', { name: /^(Don't share|Change nothing)$/ });
    this.summary = page.getByRole('region', { name: /^(In short|What changes)$/ }).getByRole('status');
    this.changes = this.summary.getByRole('list');
    this.life = page.getByRole('radiogroup', { name: /^How long/ });
    this.lookBack = page.getByRole('radiogroup', { name: /^How far back/ });
    this.firstDay = page.getByLabel('First day that the app can see');
  }

  /** The checkbox of a scope. */
  scope(title: string): Locator {
    return this.page.getByRole('checkbox', { name: new RegExp(`^${title}`) });
  }

  /** Ticks scopes by their titles. */
  async choose(...titles: readonly string[]): Promise<void> {
    for (const title of titles) if (!(await this.scope(title).isChecked())) await this.toggle(title);
  }

  /** Ticks or unticks scopes by their titles. */
  async toggle(...titles: readonly string[]): Promise<void> {
    for (const title of titles)
      await this.page
        .locator('label')
        .filter({ has: this.scope(title) })
        .click();
  }

  /** Ticks these scopes and shares. */
  async shareOnly(...titles: readonly string[]): Promise<void> {
    await this.choose(...titles);
    await this.share.click();
  }

  async chooseLife(text: string): Promise<void> {
    await this.life.getByText(text, { exact: true }).click();
  }

  async chooseLookBack(text: string): Promise<void> {
    await this.lookBack.getByText(text, { exact: true }).click();
  }

  /** Chooses this first day (YYYY-MM-DD). */
  async chooseFirstDay(day: string): Promise<void> {
    await this.chooseLookBack('Choose a date');
    await this.firstDay.fill(day);
  }

  /** The chosen end and look-back, as their radio buttons say. */
  async limits(): Promise<(string | null)[]> {
    const chosen = (group: Locator) =>
      group
        .locator('label')
        .filter({ has: this.page.getByRole('radio', { checked: true }) })
        .textContent();
    return [await chosen(this.life), await chosen(this.lookBack)];
  }
}

/** Signs a person in and opens the approval screen of a request of the app. */
export async function openApproval(
  visits: Visits,
  app: PartnerApp,
  user: string,
  scopes: readonly string[],
  parameters: Record<string, string> = {},
) {
  const session = await signIn(visits.stack, user);
  const { body } = expectStatus(201, await app.authorize(scopes, parameters));
  const screenUrl: string = body.approval_uri;
  const visitor = await visits.open(screenUrl, { session });
  const { page } = visitor;
  const url = `${app.gateway}/partner/consent/pending/${body.pending_id}`;
  /** The request as its person sees it. */
  const find = async () => (await send(url, { bearer: session })).body.data;
  return { session, visitor, page, screen: new ApprovalScreen(page), screenUrl, find };
}
