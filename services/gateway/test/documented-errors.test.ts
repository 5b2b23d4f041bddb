import { beforeEach, describe, expect, test } from '@jest/globals';
import type { ProblemCode } from '@phds/catalog/problems';
import { TokenStatus } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { AppError, type Reason, unauthorized } from '@phds/service-kit/errors';
import { shared } from '@phds/test-kit/shared';
import { groupErrors } from '../src/http/openapi/error-responses.ts';
import type { Operation } from '../src/http/operation.ts';
import { OPERATIONS } from '../src/http/operations.ts';
import type { Answers } from './fake-backends.ts';
import { SESSION, type SignInGateway, startSignInGateway } from './sign-in-gateway.ts';
import {
  bearer,
  documentOf,
  type Facts,
  liveToken,
  startTestGateway,
  type TestGateway,
} from './test-gateway.ts';

/** A gateway with these limits at one request a minute. */
const NARROW = {
  LIMITS:
    'app-user=1,app=1,client=1,user=1,user-changes=1,anonymous-authorizations=1,failed-authentications=1',
};

// The clock stands still, and each error of a limited operation counts.
const at = shared.use(await startSignInGateway({ LIMITS: 'user-costly=10000' }));
const narrow = shared.use(await startSignInGateway(NARROW));
/** Without an identity provider. */
const plain = shared.use(await startTestGateway());
beforeEach(() => at.gateway.service.accessTokens.clear());

/** Of the error of a service. */
const TEXT = 'Because.';

/** Every service answers whatever is asked, but these errors. */
const failing = (reason: Reason, operation: Operation): Answers =>
  new Proxy(working(operation), {
    get: (answers, rpc) => {
      const judges: readonly unknown[] = ['introspect', 'authenticateClient', ...sessionCheckOf(operation)];
      if (judges.includes(rpc)) return Reflect.get(answers, rpc);
      return () => {
        throw new AppError(reason, TEXT);
      };
    },
  });

/** The one operation that asks nothing else fails when its session cannot be checked. */
const sessionCheckOf = ({ operationId }: Operation) => (operationId === 'getSession' ? [] : ['checkSession']);

function working(operation: Operation, facts: Facts = {}): Answers {
  const principal = { clientId: 'app_1', ...(operation.security === 'app-token' ? { userId: '' } : {}) };
  return {
    introspect: () => liveToken({ ...facts, principal: { ...principal, ...facts.principal } }),
    read: () => documentOf({}),
    authenticateClient: ({ client }) => {
      if (client?.clientSecret !== 'right') throw unauthorized();
      return { clientId: 'app_1' };
    },
  };
}

async function issueCredentials({ gateway, provider }: SignInGateway): Promise<Credentials> {
  const now = Math.floor(gateway.clock.now().getTime() / 1000);
  const claims = { iss: provider.issuer, aud: 'phds web', sub: 'ada', iat: now, exp: now + 3_600 };
  const events = { 'http://schemas.openid.net/event/backchannel-logout': {} };
  return {
    session: await provider.sign(claims, { typ: 'session+jwt' }),
    logoutToken: await provider.sign({ ...claims, jti: 'one', events }, { typ: 'logout+jwt' }),
  };
}

/** The answer is checked against the document too. */
function send(gateway: TestGateway, { method, path, query, headers, body }: RequestParts): Promise<Response> {
  const text = new URLSearchParams(query).toString();
  return gateway.fetch(text === '' ? path : `${path}?${text}`, { method, headers, body });
}

interface Case {
  readonly operation: Operation;
  readonly request: RequestParts;
  readonly status: number;
}

type Provocation = (given: Case) => Promise<Response>;

const failWith =
  (reason: Reason): Provocation =>
  ({ operation, request }) => {
    at.gateway.backends.answer(failing(reason, operation));
    return send(at.gateway, request);
  };

const presentToken =
  (facts: Facts): Provocation =>
  ({ operation, request }) => {
    at.gateway.backends.answer(working(operation, facts));
    return send(at.gateway, request);
  };

const ask: (change: (given: Case) => Partial<RequestParts>) => Provocation = (change) => (given) => {
  at.gateway.backends.answer(working(given.operation));
  return send(at.gateway, { ...given.request, ...change(given) });
};

const withoutCredentials = ask(({ request: { headers, body } }) => {
  const { authorization: _, cookie: _cookie, 'sec-fetch-site': _site, ...rest } = headers;
  return { headers: rest, body: body?.replace('right', 'wrong') ?? null };
});

const malformed = ask(({ status, request: { headers, query, body }, operation }) => {
  if (status === 413) return { body: 'x'.repeat(70_000) };
  if (status === 406) return { headers: { ...headers, accept: 'application/fhir+xml' } };
  if (status === 415) return { headers: { ...headers, 'content-type': 'text/plain' }, body: body || 'x' };
  const takesAnyQuery = operation.query === undefined || operation.operationId === 'startAuthorization';
  return takesAnyQuery ? { query: { x: 'x'.repeat(9_000) } } : { query: { ...query, nonsense: '1' } };
});

/** Uses up what is left of the limit. */
const beyondLimit: Provocation = async ({ operation }) => {
  narrow.gateway.backends.answer(working(operation));
  const request = toValidRequest(operation, await issueCredentials(narrow));
  // Only logouts that are refused are limited.
  const sent = operation.operationId === 'endSessions' ? { ...request, body: 'logout_token=x' } : request;
  for (let left = 5; ; left -= 1) {
    const response = await send(narrow.gateway, sent);
    if (response.status === 429 || left === 0) return response;
  }
};

const notFound: Provocation = (given) => {
  const { operation, request } = given;
  if (operation.operationId === 'endSessions') return send(plain, request);
  if (operation.operationId !== 'getHealthData') return failWith('not_found')(given);
  return ask(() => ({ path: request.path.replace('heart', 'nails') }))(given);
};

const PROVOCATIONS: Partial<Record<ProblemCode, Provocation>> = {
  UNAUTHORIZED: withoutCredentials,
  TOKEN_EXPIRED: (given) => {
    at.gateway.backends.answer({ introspect: () => ({ status: TokenStatus.EXPIRED }) });
    return send(at.gateway, given.request);
  },
  INSUFFICIENT_SCOPE: presentToken({ principal: { scopes: [] } }),
  CONSENT_REQUIRED: presentToken({ grant: { status: GrantStatus.EXPIRED } }),
  UNAUTHORIZED_CLIENT: presentToken({ principal: { userId: 'ada' } }),
  INVALID_REQUEST: malformed,
  UNSUPPORTED_VERSION: ask(({ request }) => ({ headers: { ...request.headers, 'api-version': '2' } })),
  NO_SCOPES_APPROVED: ask(() => ({ body: '{"scopes":[]}' })),
  RATE_LIMITED: beyondLimit,
  NOT_FOUND: notFound,
  INTERNAL_ERROR: (given) => failWith(given.status === 503 ? 'unavailable' : 'internal')(given),
  ACCESS_NOT_RECORDED: failWith('access_not_recorded'),
  NOT_A_DEVELOPER: failWith('not_a_developer'),
  CURSOR_EXPIRED: failWith('cursor_expired'),
  CONFLICT: failWith('conflict'),
  PENDING_EXPIRED: failWith('pending_expired'),
  ALREADY_DECIDED: failWith('already_decided'),
  APP_NOT_ACTIVE: failWith('app_not_active'),
  INVALID_GRANT: failWith('invalid_grant'),
  INVALID_DPOP_PROOF: failWith('invalid_dpop_proof'),
  INVALID_SCOPE: failWith('invalid_scope'),
  UNSUPPORTED_GRANT_TYPE: failWith('unsupported_grant_type'),
};

const documented = OPERATIONS.flatMap((operation) =>
  [...groupErrors(operation)].flatMap(([status, codes]) =>
    codes.map((code) => [operation.operationId, status, code, operation] as const),
  ),
);

interface ErrorBody {
  readonly code?: string;
  readonly issue?: readonly { readonly details: { readonly coding: readonly { readonly code: string }[] } }[];
}

const codeOf = ({ code, issue }: ErrorBody) => code ?? issue?.[0]?.details.coding[0]?.code;

describe('every documented error can be provoked:', () => {
  test.each(documented)('%s answers %i %s', async (_, status, code, operation) => {
    const provoke = PROVOCATIONS[code];
    if (provoke === undefined) throw new Error(`nothing here provokes ${code}`);
    const request = toValidRequest(operation, await issueCredentials(at));
    const response = await provoke({ operation, request, status });
    const body = await response.text();
    expect([response.status, codeOf(JSON.parse(body) as ErrorBody)]).toEqual([status, code]);
    // What went wrong inside is only logged.
    if (status >= 500) expect(body).not.toContain(TEXT);
  });
});

/** What an operation is asked with. */
interface RequestParts {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/** The credentials of a person and of a provider, which only the running gateway accepts. */
interface Credentials {
  readonly session: string;
  readonly logoutToken: string;
}

const PATH_VALUES: Readonly<Record<string, string>> = {
  category: 'heart',
  type: 'Condition',
  clientId: 'app_1',
  id: 'apr-1',
};

/** A body that the operation accepts, where an empty one is not. */
const BODIES: Readonly<Record<string, object>> = {
  registerApp: { name: 'One', redirectUris: ['https://one.test/callback'] },
  setAppStatus: { status: 'active' },
  pullSandboxTrigger: { trigger: 'grant.narrow', grantId: 'grt_1' },
  putWebhook: { url: 'https://one.test/events', events: ['grant.revoked'] },
};

const CLIENT = { client_id: 'app_1', client_secret: 'right' };

/** A request that the gateway passes on to the services. */
function toValidRequest(operation: Operation, credentials: Credentials): RequestParts {
  const { method, path, requiredQuery = [] } = operation;
  const query = Object.fromEntries(requiredQuery.map((name) => [name, name === 'scope' ? 'read:mood' : 'x']));
  return {
    method,
    path: path.replaceAll(/:(\w+)/g, (_, name: string) => PATH_VALUES[name] ?? 'x'),
    query,
    headers: toHeaders(operation, credentials),
    body: toBody(operation, credentials),
  };
}

function toHeaders({ operationId, security, body }: Operation, { session }: Credentials) {
  const types: readonly string[] = body === undefined ? [] : (body.types ?? ['application/json']);
  const type = types.at(-1) === undefined ? {} : { 'content-type': types.at(-1) as string };
  if (operationId === 'approve') return { ...bearer(session), 'content-type': 'application/json' };
  if (operationId === 'signOut') return { cookie: `${SESSION}=${session}`, 'sec-fetch-site': 'same-origin' };
  if (security === 'session') return { ...type, ...bearer(session) };
  const needsToken = security === 'app-token' || typeof security === 'object';
  return needsToken ? { ...type, ...bearer() } : type;
}

function toBody({ operationId, security, body }: Operation, { logoutToken }: Credentials): string | null {
  if (body === undefined) return null;
  if (/^searchFhir.*ByForm$/.test(operationId)) return '';
  if (operationId === 'endSessions') return new URLSearchParams({ logout_token: logoutToken }).toString();
  if (security === 'client' || security === 'optional-client') return new URLSearchParams(CLIENT).toString();
  return JSON.stringify(BODIES[operationId] ?? {});
}
