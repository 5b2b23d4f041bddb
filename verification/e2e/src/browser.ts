import { expectStatus } from '@phds/running-system/partner-app';
import { type Answer, send } from '@phds/running-system/request';

/** The person's decision on the approval screen. */
export type Decision = { readonly share: readonly string[]; readonly days?: number } | 'deny';

/** The header field of a request from one of our pages. */
const FROM_OUR_PAGE = { 'Sec-Fetch-Site': 'same-origin' } as const;
const HTML = 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8';

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
    return this.#get(url, { Accept: 'application/json', ...FROM_OUR_PAGE });
  }

  #get(url: string | URL, headers: Readonly<Record<string, string>>): Promise<Answer> {
    return send(url, { headers: { Cookie: `session=${this.#session}`, ...headers } });
  }

  /** Follows an app's redirect to the approval screen and decides there. Returns the callback URL that the browser is sent to. */
  async decide(authorizationUrl: string | URL, decision: Decision): Promise<URL> {
    const screen = toLocation(expectStatus(303, await this.open(authorizationUrl)), authorizationUrl);
    expectStatus(200, await this.open(screen));
    // The first request of the screen's script, which claims the pending approval.
    const pending = new URL(screen.pathname.replace('/approve/', '/partner/consent/pending/'), screen);
    expectStatus(200, await this.ask(pending));
    const url = new URL(`${pending.pathname}/${decision === 'deny' ? 'deny' : 'approve'}`, screen);
    return toLocation(expectStatus(303, await this.#submit(url, toFields(decision))), url);
  }

  #submit(url: URL, fields: URLSearchParams): Promise<Answer> {
    const headers = {
      ...FROM_OUR_PAGE,
      Accept: HTML,
      Cookie: `session=${this.#session}`,
      Origin: url.origin,
      'Content-Type': 'application/x-www-form-urlencoded',
    };
    return send(url, { raw: fields.toString(), headers });
  }
}

/** The target of a redirect. Throws when the response is not one. */
export function toLocation(answer: Answer, base: string | URL): URL {
  const location = answer.headers.get('location');
  if (location === null) throw new Error(`no Location: ${answer.status} ${answer.text}`);
  return new URL(location, base);
}

function toFields(decision: Decision): URLSearchParams {
  const fields = new URLSearchParams();
  if (decision === 'deny') return fields;
  for (const scope of decision.share) fields.append('scopes', scope);
  fields.set('expiresInDays', String(decision.days ?? 90));
  fields.set('dataFrom', '');
  return fields;
}
