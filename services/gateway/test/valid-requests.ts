import { newSecret } from '@phds/service-kit/secrets';
import type { Operation } from '../src/http/operation.ts';
import { SESSION } from './sign-in-gateway.ts';

/** What an operation is asked with. */
export interface RequestParts {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/** The credentials of a person and of a provider, which only the running gateway accepts. */
export interface Credentials {
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
export function toValidRequest(operation: Operation, credentials: Credentials): RequestParts {
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
  return needsToken ? { ...type, ...bearer(newSecret('access_token')) } : type;
}

function bearer(token: string) {
  return { authorization: `Bearer ${token}` };
}

function toBody({ operationId, security, body }: Operation, { logoutToken }: Credentials): string | null {
  if (body === undefined) return null;
  if (/^searchFhir.*ByForm$/.test(operationId)) return '';
  if (operationId === 'endSessions') return new URLSearchParams({ logout_token: logoutToken }).toString();
  if (security === 'client' || security === 'optional-client') return new URLSearchParams(CLIENT).toString();
  return JSON.stringify(BODIES[operationId] ?? {});
}
