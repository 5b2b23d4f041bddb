import { expectStatus } from '@phds/running-system/partner-app';
import { type Answer, send } from '@phds/running-system/request';

/** The person's decision on the approval screen. */
type Decision = { readonly share: readonly string[]; readonly days?: number } | 'deny';

/** The header field of a request from one of our pages. */
const FROM_OUR_PAGE = { 'Sec-Fetch-Site': 'same-origin' } as const;
const HTML = 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8';
const JSON_TYPE = 'application/json';

/** A browser with a signed-in person: it has the session cookie and follows redirects one at a time. */
export class Browser {
  readonly #session: string;

  constructor(session: string) {
    this.#session = session;
  }

  /** Opens an address from a link on another site, as an app does when it sends people to us. */
  open(url: string | URL): Promise<Answer> {
    return this.#get(url, { Accept: HTML, 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate' });
  }

  /** Requests data as the script of one of our pages does. */
  ask(url: string | URL): Promise<Answer> {
    return this.#get(url, { Accept: JSON_TYPE, ...FROM_OUR_PAGE });
  }

  #get(url: string | URL, headers: Readonly<Record<string, string>>): Promise<Answer> {
    return send(url, { headers: { Cookie: `session=${this.#session}`, ...headers } });
  }

  /** Follows an app's redirect to the approval screen and decides there, as its script does. Returns the callback URL that it opens. */
  async decide(authorizationUrl: string | URL, decision: Decision): Promise<URL> {
    const screen = toLocation(expectStatus(303, await this.open(authorizationUrl)), authorizationUrl);
    expectStatus(200, await this.open(screen));
    // The first request of the screen's script, which claims the pending approval.
    const pending = new URL(screen.pathname.replace('/approve/', '/partner/consent/pending/'), screen);
    const { revision } = expectStatus(200, await this.ask(pending)).body.data;
    const headers = {
      ...FROM_OUR_PAGE,
      Accept: JSON_TYPE,
      Cookie: `session=${this.#session}`,
      Origin: pending.origin,
    };
    const answer =
      decision === 'deny'
        ? await send(`${pending.href}/deny`, { method: 'POST', headers })
        : await send(`${pending.href}/approve`, { json: { ...toTerms(decision), revision }, headers });
    return new URL(expectStatus(200, answer).body.data.redirectUri);
  }
}

/** The target of a redirect. Throws when the response is not one. */
export function toLocation(answer: Answer, base: string | URL): URL {
  const location = answer.headers.get('location');
  if (location === null) throw new Error(`no Location: ${answer.status} ${answer.text}`);
  return new URL(location, base);
}

function toTerms({ share, days = 90 }: Exclude<Decision, 'deny'>) {
  return { scopes: share, expiresInDays: days, dataFrom: null };
}
