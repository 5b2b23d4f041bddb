/** The last answer of a chain of redirects; status 0 for an address that was not opened. */
export interface Page {
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
 * As much of a browser as a sign-in needs: keeps the cookies of each origin, follows redirects and sends forms. With an origin of its
 * own, it does not open others: the address of a redirect there is the page's URL.
 */
export class SmallBrowser {
  readonly #origin: string | null;
  readonly #cookies = new Map<string, Cookie[]>();
  /** Every address that was opened, in order. */
  readonly opened: URL[] = [];
  /** Every cookie that was set, in order. */
  readonly received: Cookie[] = [];

  constructor(origin: string | null = null) {
    this.#origin = origin;
  }

  /** Ends at the first redirect to the path `until`, without opening it. */
  open(url: URL | string, until = ''): Promise<Page> {
    return this.#follow(new URL(url, this.#origin ?? undefined), {}, until);
  }

  /** Sends the first form of the page with its hidden fields and these. Ends like `open`. */
  submit(
    { text, url }: Page,
    fields: Record<string, string>,
    { headers = {}, until = '' }: { headers?: Record<string, string>; until?: string } = {},
  ): Promise<Page> {
    const form = /<form[^>]*action="(?<action>[^"]+)"[^>]*>(?<content>.*?)<\/form>/s.exec(text)?.groups;
    if (form === undefined) throw new Error(`${url.href} has no form:\n${text}`);
    const hidden = [
      ...(form['content'] ?? '').matchAll(/type="hidden" name="(?<name>\w+)" value="(?<value>[^"]*)"/g),
    ].map(({ groups }) => [groups?.['name'] ?? '', groups?.['value'] ?? '']);
    const body = new URLSearchParams({ ...Object.fromEntries(hidden), ...fields }).toString();
    const own = { Origin: url.origin, 'Content-Type': 'application/x-www-form-urlencoded' };
    const init = { method: 'POST', body, headers: { ...own, ...headers } };
    return this.#follow(new URL(form['action'] ?? '', url), init, until);
  }

  /** The value of a cookie that this origin set; null when there is none. */
  find(origin: string, name: string): string | null {
    return this.list(origin).find((cookie) => cookie.name === name)?.value ?? null;
  }

  /** The cookies that this origin set. */
  list(origin: string): readonly Cookie[] {
    return this.#cookies.get(new URL(origin).origin) ?? [];
  }

  async #follow(url: URL, init: Init, until: string): Promise<Page> {
    const isForeign = this.#origin !== null && url.origin !== this.#origin;
    if (isForeign || url.pathname === until) return { url, status: 0, text: '' };
    this.opened.push(url);
    const sent = this.list(url.origin).filter(({ path }) => url.pathname.startsWith(path));
    const cookie = sent.map(({ name, value }) => `${name}=${value}`).join('; ');
    const headers = { Accept: 'text/html', ...init.headers, ...(cookie === '' ? {} : { Cookie: cookie }) };
    const response = await fetch(url, { ...init, headers, redirect: 'manual' });
    for (const field of response.headers.getSetCookie()) this.#keep(url.origin, field);
    const location = response.headers.get('location');
    if (location !== null) return this.#follow(new URL(location, url), {}, until);
    return { url, status: response.status, text: await response.text() };
  }

  #keep(origin: string, field: string): void {
    const [pair = '', ...attributes] = field.split('; ');
    const mark = pair.indexOf('=');
    const name = pair.slice(0, mark);
    const path = attributes.find((each) => /^path=/i.test(each))?.slice('path='.length) ?? '/';
    const others = this.list(origin).filter((cookie) => cookie.name !== name || cookie.path !== path);
    const removed = attributes.some((each) => /^max-age=0$/i.test(each) || each.includes('01 Jan 1970'));
    const kept = removed ? [] : [{ name, value: pair.slice(mark + 1), path }];
    this.received.push(...kept);
    this.#cookies.set(origin, [...others, ...kept]);
  }
}
