import type { CallOptions } from '@connectrpc/connect';
import type { ProblemCode } from '@phds/catalog/problems';
import { notFound } from '@phds/service-kit/errors';
import type { SecurityEvent } from '@phds/service-kit/telemetry/log';
import { Router } from 'express';
import type { z } from 'zod';
import type { Backends } from '../clients/backends.ts';
import { readJsonBody } from './body.ts';
import { type Exchange, exchangeOf, onBehalf, pathParameter, takeCost } from './exchange.ts';
import { findForced } from './forced-errors.ts';
import type { Gateway } from './gateway.ts';
import { methodNotAllowed } from './http-error.ts';
import { type Fields, type HeaderName, LIMITED } from './openapi/fields.ts';
import { type ListQuery, readQuery } from './query.ts';
import { answerPublicly, sendJson } from './respond.ts';

type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';

/** What answers one method of one path. */
export interface Route {
  readonly method: Method;
  /** As mounted, with its prefix: `/developer/apps/:clientId`. */
  readonly path: string;
  /** Other methods with the same answer, in the order of `Allow`. */
  readonly also?: readonly Method[];
  /** What the security log calls a request, whatever its outcome. */
  readonly securityEvent?: SecurityEvent;
  readonly handle: (exchange: Exchange) => Promise<void> | void;
}

/** A router of all these routes. Other methods of their paths get 405 with `Allow`. */
export function createRouter(prefix: string, routes: readonly Route[]): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const byPath = Map.groupBy(routes, ({ path }) => path);
  // Express takes the first path that matches, and a parameter or wildcard matches the name of another path.
  const paths = [...byPath].sort(([one], [other]) => rank(one) - rank(other));
  for (const [path, ofPath] of paths) mount(router, prefix, path, ofPath);
  return router;
}

function rank(path: string): number {
  if (path.includes('*')) return 2;
  return path.includes(':') ? 1 : 0;
}

function mount(router: Router, prefix: string, path: string, routes: readonly Route[]): void {
  const methods = new Map(
    routes.flatMap((route) =>
      [route.method, ...(route.also ?? [])].map((method) => [method, route] as const),
    ),
  );
  const allow = [...methods.keys()].join(', ');
  router.all(path.slice(prefix.length), async (request) => {
    const exchange = exchangeOf(request);
    const route = methods.get(request.method as Method);
    const { clientId } = request.params;
    exchange.route = path;
    exchange.securityEvent = route?.securityEvent;
    exchange.appInPath = typeof clientId === 'string' ? clientId : undefined;
    if (route === undefined) throw methodNotAllowed(allow);
    if (exchange.gateway.config.SANDBOX) exchange.force = findForced(exchange, route);
    await route.handle(exchange);
  });
}

/** Answers 404 for everything that no earlier route matched. */
export function mountNotFound(router: Router): Router {
  return router.use(() => {
    throw notFound();
  });
}

/** The groups of operations in the document, with their descriptions. */
export const TAGS = {
  Data: 'The health data of a person, for an access token that the person has approved.',
  FHIR: 'The same data as resources of FHIR R4, for the same access tokens.',
  OAuth: 'How an app gets, renews and ends its tokens. Bodies may be JSON or form-encoded.',
  Apps: 'A developer’s own apps. Needs the session of the developer.',
  Consent: 'What a person shares with apps, and what the apps have read. Needs the session of the person.',
  Session: 'The session of a person in a browser.',
  Documents: 'Public documents, open to every origin.',
  Probes: 'For the operator’s load balancer.',
} as const;

/**
 * Who may call an operation: nobody in particular, a person with a session, an app with its client id and secret (`optional-client`:
 * the secret may be absent), an app with its own access token, or an access token of a person with one of the scopes, none for any.
 */
export type Security =
  | 'none'
  | 'session'
  | 'client'
  | 'optional-client'
  | 'app-token'
  | { readonly scopes: readonly string[] };

/** One answer of an operation. Without `body` it is empty. */
export interface Answer {
  readonly description: string;
  readonly body?: z.ZodType;
  /** The media type of the body; `application/json` if absent. */
  readonly type?: string;
  readonly headers?: readonly HeaderName[];
  /** Fields that are not in every such answer. */
  readonly sometimes?: readonly HeaderName[];
}

interface RequestBody {
  /** The very schema that the handler parses. */
  readonly schema: z.ZodType;
  /** Whether the body may be absent. */
  readonly optional?: boolean;
  /** The media types; `application/json` if absent. */
  readonly types?: readonly string[];
}

/** An error code; with a status where the operation uses only one of several. */
export type ErrorCode = ProblemCode | readonly [code: ProblemCode, status: number];

/** One method of one path of the public interface: how it is described in the OpenAPI document, and what answers it. */
export interface Operation extends Omit<Route, 'handle'> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Unique; the name of the operation in generated clients. */
  readonly operationId: string;
  readonly tag: keyof typeof TAGS;
  readonly summary: string;
  readonly description?: string;
  readonly security: Security;
  /** Path parameters that are more than an id of what the segment before names. */
  readonly pathParameters?: Fields;
  /** The very parameters that the handler accepts. */
  readonly query?: Fields;
  /** Those of `query` that may not be absent. */
  readonly requiredQuery?: readonly string[];
  /** Header fields of the request. */
  readonly requestHeaders?: Fields;
  readonly body?: RequestBody;
  /** By status. Errors are in `errors`; one that is also here is a page for browsers. */
  readonly answers: Readonly<Record<number, Answer>>;
  readonly errorFormat: 'problem' | 'oauth' | 'fhir';
  readonly errors: readonly ErrorCode[];
  /** Header fields that some errors of this operation have, and not those of every operation. */
  readonly errorHeaders?: readonly HeaderName[];
}

/** An operation that a router mounts. */
export type MountedOperation = Operation & Route;

type Given<Optional extends keyof Operation> = Omit<MountedOperation, Optional> & {
  readonly errors?: readonly ErrorCode[];
};

/** Fields of every success on people's surfaces. */
const OF_A_SESSION: readonly HeaderName[] = [...LIMITED, 'Cache-Control'];

/** Errors of every operation with a session: an unknown query parameter or a URL that is too long is INVALID_REQUEST. */
const SESSION_ERRORS: readonly ErrorCode[] = [
  'INVALID_REQUEST',
  'UNAUTHORIZED',
  'RATE_LIMITED',
  'INTERNAL_ERROR',
];

/** What an operation of people's surfaces says of itself; the tag if it is not the one of its surface. */
type OfASession = Given<'security' | 'errorFormat' | 'errors' | 'tag'> & Partial<Pick<Operation, 'tag'>>;

/** An operation of people's surfaces. `errors` lists those that not every operation has; one of a named thing has NOT_FOUND. */
export function sessionOperation(given: OfASession): MountedOperation {
  const ofNamed: readonly ErrorCode[] = given.path.includes('/:') ? ['NOT_FOUND'] : [];
  return {
    tag: given.path.startsWith('/developer/') ? 'Apps' : 'Consent',
    security: 'session',
    errorFormat: 'problem',
    ...given,
    answers: withHeaders(given.answers, OF_A_SESSION),
    errors: [...SESSION_ERRORS, ...ofNamed, ...(given.errors ?? [])],
  };
}

/** What the handler of a `jsonOperation` works with. */
export interface Call<Body = unknown> {
  readonly exchange: Exchange;
  readonly backends: Backends;
  /** Forwards the session of the person to the called service. */
  readonly caller: CallOptions;
  readonly body: Body;
  /** The query, if the operation has parameters. The handler reads their values and calls `check`. */
  readonly query: ListQuery;
  /** Path parameters of these names. */
  readonly clientId: string;
  readonly id: string;
}

type JsonOperation<Body extends z.ZodObject, Result> = Omit<OfASession, 'body' | 'answers' | 'handle'> & {
  readonly body?: { readonly schema: Body; readonly optional?: boolean };
  /** The status of the answer; 200 if absent. */
  readonly status?: 201 | 202;
  readonly answer: Answer & { readonly body: z.ZodType<Result> };
  /** In points of the limit for costly requests; none if absent. Counted before the body is read. */
  readonly cost?: number;
  readonly handle: (call: Call<z.infer<Body>>) => Promise<Result> | Result;
};

/** An operation of people's surfaces with one answer, which is JSON. The handler returns it. */
export function jsonOperation<Body extends z.ZodObject, Result>(
  given: JsonOperation<Body, Result>,
): MountedOperation {
  const { answer, status = 200, cost, handle, ...described } = given;
  const { body, query = {} } = described;
  return sessionOperation({
    ...described,
    answers: { [status]: answer },
    handle: async (exchange) => {
      if (cost !== undefined) await takeCost(exchange, cost);
      const parsed = body === undefined ? {} : await readJsonBody(exchange, body);
      const result = await handle(toCall(exchange, parsed as z.infer<Body>, query));
      sendJson(exchange.response, status, result);
    },
  });
}

/** What is not asked for is not read. */
function toCall<Body>(exchange: Exchange, body: Body, parameters: Fields): Call<Body> {
  return {
    exchange,
    backends: exchange.gateway.backends,
    body,
    get caller() {
      return onBehalf(exchange);
    },
    get query() {
      return readQuery(exchange.request.originalUrl, parameters);
    },
    get clientId() {
      return pathParameter(exchange, 'clientId');
    },
    get id() {
      return pathParameter(exchange, 'id');
    },
  };
}

interface PublicDocument<Content> {
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly body: z.ZodType<Content>;
  /** The media type of the body; `application/json` if absent. */
  readonly type?: string;
  readonly errorFormat?: Operation['errorFormat'];
  readonly errors?: readonly ErrorCode[];
  readonly toContent: (gateway: Gateway) => Content;
}

/** `GET` of a document that is open to every origin. It is written once for each gateway. Only a URL that is too long is refused. */
export function publicDocument<Content>(given: PublicDocument<Content>): MountedOperation {
  const { body, type = 'application/json', toContent, ...described } = given;
  const written = new WeakMap<Gateway, Buffer>();
  const headers: readonly HeaderName[] = ['Cache-Control', 'Access-Control-Allow-Origin'];
  return {
    method: 'GET',
    also: ['HEAD', 'OPTIONS'],
    tag: 'Documents',
    security: 'none',
    answers: { 200: { description: 'The document.', body, type, headers } },
    errorFormat: 'problem',
    errors: ['INVALID_REQUEST'],
    ...described,
    handle: ({ gateway, request, response }) => {
      const json = written.get(gateway) ?? Buffer.from(JSON.stringify(toContent(gateway)));
      written.set(gateway, json);
      answerPublicly(response, request.method, json, {
        'Content-Type': `${type}; charset=utf-8`,
        'Cache-Control': 'public, max-age=300',
      });
    },
  };
}

/** The answers with these fields, before their own. */
export function withHeaders(
  answers: Operation['answers'],
  headers: readonly HeaderName[],
): Readonly<Record<number, Answer>> {
  return Object.fromEntries(
    Object.entries(answers).map(([status, answer]) => [
      status,
      { ...answer, headers: [...headers, ...(answer.headers ?? [])] },
    ]),
  );
}
