import { brokenHttp } from './broken-http.ts';
import { malformedComponent, malformedJson, malformedQuery, malformedText } from './malformed-values.ts';
import type { Random } from './random.ts';

/** What an attacker can hold legitimately: an app, a session, and an access token for their own data. */
export interface Credentials {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly session: string;
  readonly accessToken: string;
}

/** The public surfaces of a gateway. */
export const SURFACES = ['api', 'oauth', 'developer', 'partner', 'public', 'http'] as const;
export type Surface = (typeof SURFACES)[number];

type MakeRequest = (random: Random, credentials: Credentials) => string;

/** Creates one request as bytes (latin1). The sender ends it: a body is never longer than announced. */
export function makeMalformedRequest(surface: Surface, random: Random, credentials: Credentials): string {
  return MAKERS[surface](random, credentials);
}

const LIST_NAMES = [
  'page',
  'pageSize',
  'from',
  'to',
  'type',
  'bucket',
  'timeZone',
  'status',
  'scope',
  'format',
];
const API_PATHS = [
  'health-data/heart',
  'health-data/sleep',
  'profile',
  'trends',
  'aggregations',
  'reports',
  'medications',
  'weight',
];

const OAUTH_NAMES = [
  'client_id',
  'client_secret',
  'redirect_uri',
  'scope',
  'state',
  'response_type',
  'code_challenge',
  'code_challenge_method',
  'purpose',
  'grant_type',
  'code',
  'code_verifier',
  'refresh_token',
  'token',
  'token_type_hint',
  'request_uri',
];
const OAUTH_POSTS = ['authorize', 'par', 'token', 'revoke', 'introspect'];
const OAUTH_GETS = ['authorize', 'scopes', 'grants'];

const APP_NAMES = [
  'name',
  'redirectUris',
  'scopes',
  'description',
  'developerName',
  'homepageUrl',
  'logoUrl',
  'requirePkce',
  'status',
];
const CONSENT_NAMES = ['scopes', 'expiresInDays', 'expiresAt', 'dataFrom'];

const MAKERS: Readonly<Record<Surface, MakeRequest>> = {
  api: (random, { accessToken }) => {
    const path = random.oneIn(5)
      ? `/api/${random.of(['v1', 'v2', 'v', 'v-1', 'v01', 'v99999999999999999999'])}/${malformedComponent(random)}/${malformedComponent(random)}`
      : `/api/v1/${random.of(API_PATHS)}`;
    const method = random.oneIn(12)
      ? random.of(['POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH'])
      : 'GET';
    return toRequest(method, `${path}?${malformedQuery(random, LIST_NAMES)}`, {
      Authorization: malformedBearer(random, accessToken),
      ...(random.oneIn(6) ? { 'API-Version': headerText(random) } : {}),
      ...(random.oneIn(6) ? { 'If-None-Match': headerText(random) } : {}),
    });
  },
  oauth: (random, credentials) => {
    if (random.oneIn(3)) {
      const own = `client_id=${credentials.clientId}&`;
      const query = `${random.oneIn(2) ? own : ''}${malformedQuery(random, OAUTH_NAMES)}`;
      return toRequest('GET', `/oauth/${random.of(OAUTH_GETS)}?${query}`, {});
    }
    const { clientId, clientSecret } = credentials;
    const basic = Buffer.from(`${clientId}:${clientSecret}`).toString('base64');
    const headers = random.oneIn(2)
      ? { Authorization: random.oneIn(6) ? headerText(random) : `Basic ${basic}` }
      : {};
    return withBody(random, 'POST', `/oauth/${random.of(OAUTH_POSTS)}`, headers, OAUTH_NAMES);
  },
  developer: (random, credentials) => {
    const headers = { Authorization: malformedBearer(random, credentials.session) };
    const path = `/developer/apps/${random.oneIn(2) ? credentials.clientId : malformedComponent(random)}`;
    switch (random.below(4)) {
      case 0:
        return toRequest('GET', `${path}/usage?${malformedQuery(random, LIST_NAMES)}`, headers);
      case 1:
        return withBody(random, 'PATCH', path, headers, APP_NAMES);
      case 2:
        return withBody(random, 'POST', `${path}/status`, headers, APP_NAMES);
      default:
        return withBody(random, 'POST', '/developer/apps', headers, APP_NAMES);
    }
  },
  partner: (random, { session }) => {
    const headers = { Authorization: malformedBearer(random, session) };
    const kind = random.of(['pending', 'grants', 'accesses', 'preview']);
    const path = `/partner/consent/${kind}`;
    if (random.oneIn(2)) return toRequest('GET', `${path}?${malformedQuery(random, LIST_NAMES)}`, headers);
    const one = `${path}/${malformedComponent(random)}`;
    switch (random.below(4)) {
      case 0:
        return withBody(random, 'POST', `${one}/${random.of(['approve', 'deny'])}`, headers, CONSENT_NAMES);
      case 1:
        return withBody(random, 'PATCH', one, headers, CONSENT_NAMES);
      case 2:
        return toRequest('DELETE', one, headers);
      default:
        return toRequest('GET', `${one}/${random.of(['', 'receipt', 'accesses'])}`, headers);
    }
  },
  public: (random) => {
    const places = [
      '/',
      '/assets/',
      '/approve/',
      '/.well-known/',
      '/apps/',
      '/docs/',
      '/api/versions/',
      '/openapi.json',
    ];
    const method = random.oneIn(6) ? random.of(['POST', 'PUT', 'TRACE', 'OPTIONS', 'HEAD']) : 'GET';
    const path = `${random.of(places)}${malformedComponent(random)}`;
    return toRequest(method, `${path}?${malformedQuery(random, LIST_NAMES)}`, {
      Accept: random.of(['text/html', '*/*', headerText(random)]),
      ...(random.oneIn(4) ? { Range: 'bytes=9-1' } : {}),
      ...(random.oneIn(4) ? { Cookie: `session=${headerText(random)}` } : {}),
    });
  },
  http: brokenHttp,
};

function malformedBearer(random: Random, right: string): string {
  if (!random.oneIn(8)) return `Bearer ${right}`;
  return random.of([`bearer  ${right}`, `Bearer ${right}x`, 'Bearer', `Basic ${right}`, headerText(random)]);
}

/** A header field cannot contain control characters. */
function headerText(random: Random): string {
  return malformedText(random)
    .replace(/[^\u0020-\u007e\u00a0-\u00ff]/g, '?')
    .slice(0, 2_000);
}

function withBody(
  random: Random,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  names: readonly string[],
): string {
  const isForm = random.oneIn(3);
  const text = isForm ? malformedQuery(random, names) : malformedJson(random, names);
  const types = [
    'application/json',
    'application/x-www-form-urlencoded',
    'text/plain',
    'multipart/form-data',
    '',
    '/',
  ];
  const usual = isForm ? 'application/x-www-form-urlencoded' : 'application/json';
  return toRequest(
    method,
    path,
    {
      ...headers,
      'Content-Type': random.oneIn(8)
        ? random.of(types)
        : `${usual}${random.oneIn(10) ? '; charset=utf-7' : ''}`,
      ...(random.oneIn(20) ? { 'Content-Encoding': random.of(['gzip', 'br', 'zstd', 'nope']) } : {}),
    },
    text,
  );
}

function toRequest(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  text?: string,
): string {
  const body = text === undefined ? '' : Buffer.from(text.slice(0, 100_000), 'utf8').toString('latin1');
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = text === undefined ? '' : `Content-Length: ${body.length}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${fields.join('')}${length}\r\n${body}`;
}
