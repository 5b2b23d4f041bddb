import { readApiDocument } from '@phds/test-kit/api-document';
import fc, { type Arbitrary } from 'fast-check';

/** What an attacker can hold legitimately: an app, a session, and an access token for their own data. */
export interface Credentials {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly session: string;
  readonly accessToken: string;
}

/** The public surfaces of a gateway. */
export const SURFACES = ['api', 'fhir', 'oauth', 'developer', 'partner', 'public', 'http'] as const;
export type Surface = (typeof SURFACES)[number];

const AT_ONCE = 500;

/** Requests as bytes (latin1), the same for the same seed. The sender ends each: a body is never longer than announced. */
export function* makeMalformedRequests(
  surface: Surface,
  credentials: Credentials,
  { requests, seed }: { readonly requests: number; readonly seed: number },
): Generator<string, undefined> {
  const malformed = surface === 'http' ? brokenHttp : requestTo(surface, credentials);
  for (let made = 0; made < requests; made += AT_ONCE) {
    const numRuns = Math.min(AT_ONCE, requests - made);
    yield* fc.sample(malformed, { numRuns, seed: seed * 1_000 + made / AT_ONCE });
  }
}

/** Texts that have caused problems in parsers, databases and log writers, used for any parameter. */
const TEXTS: readonly string[] = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\u202eevil',
  '\u3164',
  '\ufeff',
  '𝕯𝖆𝖙𝖆',
  "'; DROP TABLE reading; --",
  '{{7*7}}',
  '../../../../etc/passwd',
  '<script>alert(1)</script>',
  '=cmd|calc',
  '__proto__',
  'constructor',
  'toString',
  'null',
  'undefined',
  'true',
  'NaN',
  'Infinity',
  '-0',
  '-1',
  '0',
  '1.5',
  '1e309',
  '9007199254740993',
  '99999999999999999999',
  '0x10',
  '2026-02-30',
  '2026-13-01T00:00:00Z',
  '0000-00-00',
  '+275760-09-13T00:00:00.001Z',
  '-271821-04-19T23:59:59.999Z',
  '2026-01-01T00:00:00+99:99',
  'Europe/Nowhere',
  'read:health-data:heart read:health-data:heart',
  'read:*',
  'http://[::1',
  'javascript:alert(1)',
  'https://user:pass@host/#x',
  `app_${'x'.repeat(22)}`,
  `apr_${'0'.repeat(22)}`,
  `grt_${'Z'.repeat(22)}`,
  `phds_at_${'a'.repeat(49)}`,
  `phds_rt_${'a'.repeat(49)}`,
  `phds_ac_${'a'.repeat(49)}`,
];

/** Of these, the first most often. */
function mostly<T>(usual: Arbitrary<T>, weight: number, ...others: readonly Arbitrary<T>[]): Arbitrary<T> {
  return fc.oneof({ arbitrary: usual, weight }, ...others.map((arbitrary) => ({ arbitrary, weight: 1 })));
}

const short = fc.oneof(fc.constantFrom(...TEXTS), fc.string({ unit: 'binary', maxLength: 30 }));
/** A text that hardly any parameter accepts, sometimes a long one. */
const text = mostly(
  short,
  8,
  fc.tuple(short, fc.constantFrom(40, 300, 3_000)).map(([part, times]) => part.repeat(times).slice(0, 6_000)),
);

const encoded = text.map((it) => encodeURIComponent(it.toWellFormed()));
const BROKEN_COMPONENTS = ['%', '%2', '%zz', '%00', '%c0%ae', '%ed%a0%80', '%ff', '%u0041', '+', '%2b%20'];
/** A URL component: encoded, encoded twice, or malformed. */
const component = mostly(encoded, 4, encoded.map(encodeURIComponent), fc.constantFrom(...BROKEN_COMPONENTS));

/** A header field cannot contain control characters. */
const fieldValue = text.map((it) => it.replace(/[^\u0020-\u007e\u00a0-\u00ff]/g, '?').slice(0, 2_000));

interface Operation {
  readonly method: string;
  readonly path: string;
  /** Values that the document names for a part of the path, and the names of all other parameters. */
  readonly parts: Readonly<Record<string, readonly string[]>>;
  readonly names: readonly string[];
  readonly hasBody: boolean;
}

/** The parameters of an operation: of its path, its query, its header and its body at any depth. */
function readOperation(path: string, method: string, operation: Schema): Operation {
  const { parameters = [], requestBody } = operation;
  const ofPath = parameters.filter((each: Schema) => each.in === 'path');
  const others = parameters.filter((each: Schema) => each.in === 'query');
  const names = [...others.map(({ name }: Schema) => name), ...listProperties(requestBody?.content)];
  return {
    method: method.toUpperCase(),
    path,
    parts: Object.fromEntries(ofPath.map(({ name, schema }: Schema) => [name, resolve(schema).enum ?? []])),
    names: names.length === 0 ? ['page'] : names,
    hasBody: requestBody !== undefined,
  };
}

// biome-ignore lint/suspicious/noExplicitAny: the document is read by its names
type Schema = any;
const DOCUMENT: Schema = readApiDocument();

function resolve(schema: Schema): Schema {
  const steps: string[] = schema.$ref?.slice('#/'.length).split('/') ?? [];
  return steps.length === 0 ? schema : steps.reduce((node, step) => node[step], DOCUMENT);
}

function listProperties(schema: Schema): string[] {
  if (schema === null || typeof schema !== 'object') return [];
  const { properties = {}, ...others } = resolve(schema);
  const inner = [...Object.values(properties), ...Object.values(others)].flatMap(listProperties);
  return [...new Set([...Object.keys(properties), ...inner])];
}

const OPERATIONS = Object.entries(DOCUMENT.paths).flatMap(([path, operations]) =>
  Object.entries(operations as object).map(([method, operation]) => readOperation(path, method, operation)),
);
/** Places of the web app and of the documentation, which the document does not describe. */
const PAGES: readonly Operation[] = ['/', '/assets/{id}', '/approve/{id}', '/apps/{id}', '/docs/{id}'].map(
  (path) => ({ method: 'GET', path, parts: { id: [] }, names: ['page'], hasBody: false }),
);

function isOn(surface: Surface, { path }: Operation): boolean {
  const first = path.split('/')[1] ?? '';
  const isPublic = !SURFACES.some((each) => each === first) || path === '/api/versions';
  return surface === 'public' ? isPublic : first === surface && !isPublic;
}

function requestTo(surface: Surface, credentials: Credentials): Arbitrary<string> {
  const operations = [...OPERATIONS, ...PAGES].filter((each) => isOn(surface, each));
  const own = authorizationOn(surface, credentials);
  return fc.oneof(...operations.map((operation) => toRequests(operation, own, credentials)));
}

const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH', 'TRACE'];

function toRequests(
  { method, path, parts, names, hasBody }: Operation,
  authorization: Arbitrary<string>,
  { clientId }: Credentials,
): Arbitrary<string> {
  const name = mostly(fc.constantFrom(...names), 2, component);
  const target = pathOf(path, { ...parts, clientId: [clientId] });
  const own = names.includes('client_id') ? `client_id=${clientId}&` : '';
  return fc
    .record({
      method: mostly(fc.constant(method), 11, fc.constantFrom(...METHODS)),
      target: mostly(
        target,
        8,
        fc.tuple(target, component).map(([known, more]) => `${known}/${more}`),
      ),
      query: queryOf(name, own),
      authorization,
      fields: FIELDS,
      body: hasBody ? bodyOf(name, own) : fc.constant(null),
    })
    .map((parts) => toRequest(parts));
}

const OTHER_VERSIONS = ['v2', 'v', 'v-1', 'v01', 'v99999999999999999999'];

/** A path with a known or a malformed value in each place of a parameter. */
function pathOf(path: string, known: Readonly<Record<string, readonly string[]>>): Arbitrary<string> {
  const parts = path.split('/').map((part): Arbitrary<string> => {
    if (part === 'v1') return mostly(fc.constant(part), 9, fc.constantFrom(...OTHER_VERSIONS));
    const parameter = /^\{(\w+)\}$/.exec(part)?.[1];
    if (parameter === undefined) return fc.constant(part);
    const values = known[parameter] ?? [];
    return values.length === 0 ? component : mostly(fc.constantFrom(...values), 4, component);
  });
  return fc.tuple(...parts).map((all) => all.join('/'));
}

/** A query string or form with unknown names, repeated ones, brackets, or no values. Half of them begin with `own`. */
function queryOf(name: Arbitrary<string>, own: string): Arbitrary<string> {
  const suffix = mostly(fc.constant(''), 5, fc.constantFrom('[]', '[a]', '[__proto__][x]', '.a'));
  const value = mostly(component, 5, fc.constant(null));
  const pair = fc
    .tuple(name, suffix, value)
    .map(([key, more, given]) => key + more + (given === null ? '' : `=${given}`));
  const pairs = mostly(fc.array(pair, { maxLength: 5 }), 20, fc.array(pair, { maxLength: 400 }));
  const separator = mostly(fc.constant('&'), 3, fc.constantFrom('&&', ';'));
  const most = mostly(fc.constant(4_000), 50, fc.constant(9_000));
  return fc
    .tuple(fc.constantFrom('', own), pairs, separator, most)
    .map(([first, all, between, length]) => (first + all.join(between)).slice(0, length));
}

const BROKEN_JSON = ['', '{', '}', '[', '"', 'nul', '{"a":}', '{"a":1,}', "{'a':1}", '\u0000', '{}{}', 'NaN'];
const NO_OBJECTS = ['null', 'true', '1', '""', '[]', '[null]', '1e999', '"\\ud800"'];

/** A JSON text that has a wrong type, is too deep or too wide, or uses names of built-in properties. */
function jsonOf(name: Arbitrary<string>): Arbitrary<string> {
  const member = mostly(fc.oneof(text, fc.jsonValue()), 12, fc.array(text, { maxLength: 2_000 }));
  const sizes = mostly(fc.dictionary(name, member, { maxKeys: 6 }), 20, fc.dictionary(name, member));
  return mostly(
    sizes.map((value) => JSON.stringify(value)),
    6,
    fc.constantFrom(...BROKEN_JSON, ...NO_OBJECTS),
    fc.nat(5_000).map((depth) => '['.repeat(depth)),
    fc.nat(2_000).map((depth) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`),
  );
}

interface Body {
  readonly type: string;
  readonly content: string;
}

const OTHER_TYPES = ['text/plain', 'multipart/form-data', 'application/json; charset=utf-7', '', '/'];

function bodyOf(name: Arbitrary<string>, own: string): Arbitrary<Body> {
  const of = (usual: string, content: Arbitrary<string>) =>
    fc.record({ type: mostly(fc.constant(usual), 7, fc.constantFrom(...OTHER_TYPES)), content });
  return mostly(
    of('application/json', jsonOf(name)),
    2,
    of('application/x-www-form-urlencoded', queryOf(name, own)),
  );
}

const FIELD_NAMES = ['API-Version', 'If-None-Match', 'Prefer', 'Accept', 'DPoP', 'Range', 'Content-Encoding'];
const FIELD_VALUES = ['gzip', 'br', 'zstd', 'bytes=9-1', 'handling=lenient', 'text/html'];
const FIELDS = fc.dictionary(
  fc.constantFrom(...FIELD_NAMES),
  mostly(fieldValue, 1, fc.constantFrom(...FIELD_VALUES)),
  { maxKeys: 2 },
);

/** The line of a request that admits its sender, sometimes spoilt or missing; under /oauth, half of them have none. */
function authorizationOn(surface: Surface, credentials: Credentials): Arbitrary<string> {
  const { clientId, clientSecret, session, accessToken } = credentials;
  const basic = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
  const bearer = `Bearer ${surface === 'api' || surface === 'fhir' ? accessToken : session}`;
  if (surface === 'public') return fieldValue.map((value) => `Cookie: session=${value}\r\n`);
  const right = surface === 'oauth' ? basic : bearer;
  const wrong = fc.constantFrom(
    right.replace(' ', '  ').toLowerCase(),
    `${right}x`,
    'Bearer',
    `Basic ${right}`,
  );
  const line = mostly(fc.constant(right), 7, wrong, fieldValue).map((value) => `Authorization: ${value}\r\n`);
  return mostly(line, surface === 'oauth' ? 1 : 19, fc.constant(''));
}

function toRequest(parts: {
  readonly method: string;
  readonly target: string;
  readonly query: string;
  readonly authorization: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly body: Body | null;
}): string {
  const { method, target, query, authorization, fields, body } = parts;
  const content = Buffer.from(body?.content.slice(0, 100_000) ?? '').toString('latin1');
  const given = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  if (body !== null) given.push(`Content-Type: ${body.type}\r\nContent-Length: ${content.length}\r\n`);
  return `${method} ${target}?${query} HTTP/1.1\r\nHost: localhost\r\n${authorization}${given.join('')}\r\n${content}`;
}

/** Malformed HTTP. */
const brokenHttp = fc.oneof(
  // Never empty: after empty lines, a server keeps waiting for a request line (RFC 9112, section 2.2).
  text.map((it) => `x${it}\r\n\r\n`),
  fc.nat(12_000).map((more) => `GET /${'a'.repeat(8_000 + more)} HTTP/1.1\r\nHost: a\r\n\r\n`),
  fc.nat(4_000).map((more) => `GET / HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(16_000 + more)}\r\n\r\n`),
  fc.nat(200).map((more) => `\u0016\u0003\u0001${'\u0080'.repeat(more)}\r\n\r\n`),
  ...[
    'GET / HTTP/9.9\r\nHost: localhost\r\n\r\n',
    'GET / HTTP/1.1\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n',
    'POST /oauth/token HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'POST /oauth/token HTTP/1.1\r\nHost: a\r\nContent-Length: -5\r\n\r\n',
    'POST /oauth/token HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na',
    'POST /oauth/token HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n',
    'POST /oauth/token HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: a\r\n folded: b\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: a\r\nX: \u0000\r\n\r\n',
    'GET / HTTP/1.1\r\nHost : a\r\n\r\n',
    `GET / HTTP/1.1\r\nHost: a\r\n${Array.from({ length: 3_000 }, (_, n) => `X${n}: 1\r\n`).join('')}\r\n`,
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'CONNECT localhost:1 HTTP/1.1\r\nHost: a\r\n\r\n',
    // The last request of its connection: after an upgrade that it ignores, Node reports no parser errors, so malformed bytes would
    // wait for the idle timeout.
    'GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade, close\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: a\r\nExpect: 200-nothing\r\n\r\n',
  ].map((request) => fc.constant(request)),
);
