import { type Page, SmallBrowser } from '@phds/test-kit/small-browser';

/** A browser that signs in at the development identity provider. */
export class SignInVisit extends SmallBrowser {
  /** Picks a person on the page of the provider; ends at the first redirect to `until`, without opening it. */
  pick(page: Page, user: string, until = ''): Promise<Page> {
    return this.submit(page, { user }, { until });
  }

  /** Begins at a gateway, picks the person, and follows until the page to return to. */
  async signIn(gateway: string, user: string, returnTo = '/apps'): Promise<Page> {
    const parameters = new URLSearchParams({ return_to: returnTo });
    return this.pick(await this.open(`${gateway}/sign-in?${parameters}`), user);
  }
}
