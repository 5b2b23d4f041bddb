import { checkedFetchOfFakes } from '@phds/test-kit/checked-answers';
import { VISIT } from './test-gateway.ts';

/** A browser's cookies for one origin. Each request is sent to the gateway that is given, as a load balancer would choose one. */
export class TestBrowser {
  readonly cookies = new Map<string, string>();

  /** Visits an address without following a redirect, and keeps the cookies that it sets. */
  async open(gateway: { readonly url: string }, path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers({ ...VISIT, ...Object.fromEntries(new Headers(init.headers)) });
    if (this.cookies.size > 0) headers.set('cookie', this.header);
    const response = await checkedFetchOfFakes(gateway.url + path, { redirect: 'manual', ...init, headers });
    for (const field of response.headers.getSetCookie()) this.#keep(field);
    return response;
  }

  get header(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  /** Names of the cookies that start with `prefix`. */
  names(prefix: string): string[] {
    return [...this.cookies.keys()].filter((name) => name.startsWith(prefix));
  }

  #keep(field: string): void {
    const [pair = '', ...attributes] = field.split('; ');
    const mark = pair.indexOf('=');
    const name = pair.slice(0, mark);
    if (attributes.includes('Max-Age=0')) this.cookies.delete(name);
    else this.cookies.set(name, pair.slice(mark + 1));
  }
}
