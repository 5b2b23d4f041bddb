/** Where a chain of redirects ended. */
export interface Place {
  readonly url: URL;
  readonly status: number;
  readonly text: string;
}

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
}

type Init = Pick<RequestInit, 'method' | 'body'> & { readonly headers?: Record<string, string> };

/**
 * As much of a browser as a sign-in needs: keeps the cookies of each origin, follows redirects between them, and sends the form that
 * picks a person at the development identity provider.
 */
export class SignInVisit {
  readonly #cookies = new Map<string, Cookie[]>();
  /** Every address that was opened, in order. */
  readonly opened: URL[] = [];
  /** Every cookie that was set, in order. */
  readonly received: Cookie[] = [];

  open(url: string | URL, init: Init = {}): Promise<Place> {
    return this.#follow(new URL(url), init, () => true);
  }

  /** Like `open`, but ends at the first redirect to this path, without opening it. */
  openUntil(url: string | URL, path: string): Promise<Place> {
    return this.#follow(new URL(url), {}, ({ pathname }) => pathname !== path);
  }

  /** Picks a person on the page of the provider; ends at the first redirect to `until`, without opening it. */
  pick({ url, text }: Place, user: string, until = ''): Promise<Place> {
    const action = /<form method="post" action="([^"]+)" class="other"/.exec(text)?.[1];
    if (action === undefined) throw new Error(`${url.href} does not ask who signs in:\n${text}`);
    const headers = { Origin: url.origin, 'Content-Type': 'application/x-www-form-urlencoded' };
    const init = { method: 'POST', headers, body: new URLSearchParams({ user }).toString() };
    return this.#follow(new URL(action, url), init, ({ pathname }) => pathname !== until);
  }

  /** Begins at a gateway, picks the person, and follows until the page to return to. */
  async signIn(gateway: string, user: string, returnTo = '/apps'): Promise<Place> {
    return this.pick(
      await this.open(`${gateway}/sign-in?${new URLSearchParams({ return_to: returnTo })}`),
      user,
    );
  }

  /** The value of a cookie that this origin set; null when there is none. */
  find(origin: string, name: string): string | null {
    return this.#of(origin).find((cookie) => cookie.name === name)?.value ?? null;
  }

  /** The cookies that this origin set. */
  list(origin: string): readonly Cookie[] {
    return this.#of(origin);
  }

  #of(url: string): Cookie[] {
    return this.#cookies.get(new URL(url).origin) ?? [];
  }

  async #follow(url: URL, init: Init, mayOpen: (url: URL) => boolean): Promise<Place> {
    if (!mayOpen(url)) return { url, status: 0, text: '' };
    this.opened.push(url);
    const sent = this.#of(url.origin).filter(({ path }) => url.pathname.startsWith(path));
    const cookie = sent.map(({ name, value }) => `${name}=${value}`).join('; ');
    const headers = { Accept: 'text/html', ...init.headers, ...(cookie === '' ? {} : { Cookie: cookie }) };
    const response = await fetch(url, { ...init, headers, redirect: 'manual' });
    for (const field of response.headers.getSetCookie()) this.#keep(url.origin, field);
    const location = response.headers.get('location');
    if (location !== null) return this.#follow(new URL(location, url), {}, mayOpen);
    return { url, status: response.status, text: await response.text() };
  }

  #keep(origin: string, field: string): void {
    const [pair = '', ...attributes] = field.split('; ');
    const mark = pair.indexOf('=');
    const name = pair.slice(0, mark);
    const path = attributes.find((each) => /^path=/i.test(each))?.slice('path='.length) ?? '/';
    const others = this.#of(origin).filter((cookie) => cookie.name !== name || cookie.path !== path);
    const removed = attributes.some((each) => /^max-age=0$/i.test(each) || each.includes('01 Jan 1970'));
    const kept = removed ? [] : [{ name, value: pair.slice(mark + 1), path }];
    this.received.push(...kept);
    this.#cookies.set(origin, [...others, ...kept]);
  }
}
