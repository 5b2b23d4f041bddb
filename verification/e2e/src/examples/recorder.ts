import type { Recorded } from '@phds/docs/recorded';
import { type Answer, type RequestOptions, send, toBasic } from '@phds/running-system/request';

/** The address that examples show. */
const SHOWN_GATEWAY = 'http://localhost:8080';

/** The limits of the local stack are not the documented ones. */
const LIMIT_FIELDS = ['RateLimit-Policy', 'RateLimit'];

/** The fields of answers that examples show, in this order; those of the limit only where it was exceeded. */
const SHOWN_FIELDS = [
  'API-Version',
  ...LIMIT_FIELDS,
  'Retry-After',
  'X-Request-Id',
  'WWW-Authenticate',
  'Allow',
  'ETag',
  'Link',
  'Location',
  'Content-Type',
];

const SECRETS: readonly (readonly [RegExp, string])[] = [
  [/phds_(at|rt|ac|cs)_\w+/g, 'phds_$1_…'],
  [/whsec_[\w+/=-]+/g, 'whsec_…'],
  [/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, 'eyJ…'],
];

interface ExampleRequest extends Omit<RequestOptions, 'method' | 'raw'> {
  /** Client id and secret, sent as HTTP Basic. */
  readonly client?: { readonly clientId: string; readonly clientSecret: string };
}

/** Sends requests to a gateway and keeps them as examples: secrets shortened, and with the address that the documentation uses. */
export class Recorder<Name extends string> {
  readonly recorded = new Map<Name, Recorded>();
  readonly #gateway: string;

  constructor(gateway: string) {
    this.#gateway = gateway;
  }

  /** Sends a request and keeps the exchange under a name. Throws when the status is not the expected one. */
  async record(name: Name, line: string, options: ExampleRequest = {}, status = 200): Promise<Answer> {
    const [method = '', path = ''] = line.split(' ');
    const { client, ...rest } = options;
    const headers = {
      ...rest.headers,
      ...(client === undefined ? {} : { Authorization: toBasic(client.clientId, client.clientSecret) }),
    };
    const answer = await send(this.#gateway + path, { ...rest, headers, method });
    if (answer.status !== status) {
      throw new Error(`${name}: ${line} was answered with ${answer.status}, not ${status}: ${answer.text}`);
    }
    this.recorded.set(name, this.#shorten(toRecorded(method, path, options, answer)));
    return answer;
  }

  /** Records requests that have these options, such as a token, and others of their own. */
  as(common: ExampleRequest) {
    return (name: Name, line: string, own: ExampleRequest = {}, status = 200) =>
      this.record(name, line, { ...common, ...own }, status);
  }

  #shorten(exchange: Recorded): Recorded {
    // The address is also a parameter of callbacks (`iss`).
    const text = JSON.stringify(exchange)
      .replaceAll(this.#gateway, SHOWN_GATEWAY)
      .replaceAll(encodeURIComponent(this.#gateway), encodeURIComponent(SHOWN_GATEWAY));
    return JSON.parse(SECRETS.reduce((whole, [secret, short]) => whole.replaceAll(secret, short), text));
  }
}

function toRecorded(method: string, path: string, options: ExampleRequest, answer: Answer): Recorded {
  const { bearer, client, json, form } = options;
  const request = {
    ...(bearer === undefined ? {} : { Authorization: `Bearer ${bearer}` }),
    ...(client === undefined ? {} : { Authorization: 'Basic …' }),
    ...options.headers,
    ...(json === undefined ? {} : { 'Content-Type': 'application/json' }),
    ...(form === undefined ? {} : { 'Content-Type': 'application/x-www-form-urlencoded' }),
  };
  const shown = SHOWN_FIELDS.flatMap((name) => {
    const value = answer.headers.get(name);
    const isLeftOut = LIMIT_FIELDS.includes(name) && answer.status !== 429;
    return value === null || isLeftOut ? [] : [[name, value] as const];
  });
  return {
    request: { method, path, headers: request, body: json ?? toForm(form) },
    answer: {
      status: answer.status,
      headers: Object.fromEntries(shown),
      body: answer.body ?? (answer.text || null),
    },
  };
}

/** A form as text, with the blanks that make it readable. */
function toForm(form: Readonly<Record<string, string>> | undefined): string | null {
  return form === undefined ? null : new URLSearchParams(form).toString();
}

/** What two recordings of the same example have in common: everything but ids, times and what is left of a limit. */
export function toComparable({ request, answer }: Recorded): unknown {
  const text = JSON.stringify({ request, answer })
    .replaceAll(/\b(req|app|grt|apr|sub|rdg|med|cur)_[0-9A-Za-z]+/g, '$1_…')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/"RateLimit(-Policy)?":"[^}]*?\d+"/g, '"RateLimit$1":""')
    .replaceAll(/"Retry-After":"\d+"/g, '"Retry-After":""');
  return JSON.parse(text);
}
