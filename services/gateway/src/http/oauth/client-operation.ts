import { SCOPE_NAMES } from '@phds/catalog/scopes';
import { AppError, invalidRequest, unauthorized } from '@phds/service-kit/errors';
import { isId } from '@phds/service-kit/ids';
import { CLIENT_ASSERTION_TYPE, readSubject } from '@phds/service-kit/trust/client-assertion';
import { readProof } from '@phds/service-kit/trust/dpop';
import { z } from 'zod';
import { type Allowance, toAddressKey } from '../../limits/limits.ts';
import { FORM_TYPE, JSON_TYPE, parseJsonObject, readBody } from '../body.ts';
import { publicUrlOf } from '../data-request.ts';
import { type Exchange, showAllowance } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import { type Fields, type HeaderName, LIMITED, text } from '../openapi/fields.ts';
import { type ErrorCode, type MountedOperation, withHeaders } from '../operation.ts';
import { decode, parseQuery } from '../query.ts';

export const BOTH_TYPES = [JSON_TYPE, FORM_TYPE];
export const ALWAYS: readonly HeaderName[] = ['Cache-Control', 'Pragma'];
export const OAUTH_ERRORS: readonly ErrorCode[] = [
  'INVALID_REQUEST',
  'UNAUTHORIZED',
  'RATE_LIMITED',
  'INTERNAL_ERROR',
];

type Given = Omit<MountedOperation, 'tag' | 'errorFormat'>;

export function oauthOperation(given: Given): MountedOperation {
  return { tag: 'OAuth', errorFormat: 'oauth', ...given, answers: withHeaders(given.answers, ALWAYS) };
}

/** An operation for an app that authenticates itself, within the limit of the app. */
export function clientOperation(
  given: Omit<Given, 'method' | 'errors'> & { errors?: readonly ErrorCode[] },
): MountedOperation {
  const answers = withHeaders(given.answers, LIMITED);
  const errors = [...OAUTH_ERRORS, ...(given.errors ?? [])];
  return oauthOperation({ method: 'POST', ...given, answers, errors });
}

// Parameters of the OAuth requests, for the document. All are strings, and unknown ones are ignored (RFC 6749 3.1), so authorization
// checks them.

/** Credentials in a body. They may be in `Authorization` instead. */
export const CREDENTIALS = {
  client_id: text.optional().meta({
    description:
      'Client id of the app, unless it is in `Authorization` or in the assertion. Alone it suffices for an app without a secret.',
  }),
  client_secret: text
    .optional()
    .meta({ description: 'The secret of the app, unless it is in `Authorization`.' }),
  client_assertion: text
    .optional()
    .meta({ description: 'A JWT signed with a key of the app, in place of the secret.' }),
  client_assertion_type: z
    .literal(CLIENT_ASSERTION_TYPE)
    .optional()
    .meta({ description: 'Needed with `client_assertion`.' }),
};

export const scopes = text.meta({
  description: 'One or more scopes, separated by spaces.',
  examples: [SCOPE_NAMES[0]],
});

export const smartScopes = text.meta({
  description:
    'One or more scopes, or words of SMART App Launch such as `patient/Observation.rs`, separated by spaces.',
  examples: [SCOPE_NAMES[0]],
});

/** Parameters of an OAuth request. A parameter that was sent empty has an empty value; one that was not sent is missing. */
export type OauthParameters = ReadonlyMap<string, string>;

const STRING_TOKEN = /"(?:[^"\\]|\\.)*"/g;

/**
 * Reads the JSON or form body of an OAuth request. Throws 413, 415, or `invalid_request` for a body that does not parse, a repeated
 * parameter, or a value that is not a string.
 */
export async function readOauthParameters({ gateway, request }: Exchange): Promise<OauthParameters> {
  const { type, text } = await readBody(request, gateway.config.MAX_BODY_BYTES);
  return type === JSON_TYPE ? parseJsonParameters(text) : parseFormParameters(text);
}

/** Parses form text, as in a body or a query string. */
export function parseFormParameters(text: string): OauthParameters {
  const { values, repeated } = parseQuery(text);
  if (repeated.size > 0) throw givenTwice([...repeated]);
  return values;
}

/** The sent parameters, keyed by their proto field names. */
export function pick<Field extends string>(
  parameters: OauthParameters,
  names: Readonly<Record<Field, string>>,
): { [K in Field]?: string } {
  const found: { [K in Field]?: string } = {};
  for (const field in names) {
    const value = parameters.get(names[field]);
    if (value !== undefined) found[field] = value;
  }
  return found;
}

function parseJsonParameters(text: string): OauthParameters {
  const entries = Object.entries(parseJsonObject(text));
  const notText = entries.filter(([, value]) => typeof value !== 'string' || !value.isWellFormed());
  if (notText.length > 0) {
    throw invalidRequest(notText.map(([parameter]) => ({ parameter, message: 'must be a string' })));
  }
  // JSON.parse silently keeps the last of two equal names. In an object of strings, each member has two string tokens, so a
  // different count shows a repetition.
  const tokens = text.match(STRING_TOKEN)?.length ?? 0;
  if (tokens !== entries.length * 2) throw givenTwice(['body']);
  return new Map(entries as [string, string][]);
}

function givenTwice(parameters: readonly string[]) {
  return invalidRequest(parameters.map((parameter) => ({ parameter, message: 'has a parameter twice' })));
}

/** The credentials that an app presents, which authorization verifies. */
export interface Credentials {
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly clientAssertion?: string;
}

/** A request of an app under `/oauth`. */
interface ClientCall<T> {
  readonly client: Credentials;
  /** Of a request that may name the app by it alone (RFC 6749 section 6), as `fhirclient` does. */
  readonly refreshToken?: string | undefined;
  /** Whether it counts against the limit of tokens by client credentials too. */
  readonly isCostly?: boolean;
  /** Sends the credentials to authorization, whose answer names the app. `turn` is whose turn the call takes. */
  send(client: Credentials, turn: string): Promise<T>;
}

/**
 * Sends a request to authorization, which authenticates the app, and counts it against the limit of the app. What was accepted before is
 * counted before it is sent, and refused with `rate_limited` beyond the limit. Everything else is counted afterwards, by the app that
 * the answer or the refusal names, so what is in flight when a limit ends is served beyond it. An app is asked for by a call of
 * its own only where the request goes no further: for a forced error, for an assertion of an app that has used up its limit, and for a
 * refresh that only its token names.
 */
export async function callAsClient<T extends { readonly clientId: string }>(
  exchange: Exchange,
  call: ClientCall<T>,
): Promise<T> {
  const { gateway, request } = exchange;
  const { client } = call;
  const { knownClients } = gateway;
  exchange.isPublicCall = client.clientSecret === undefined && client.clientAssertion === undefined;
  const presented = exchange.isPublicCall ? { ...client, address: toAddressKey(request.ip ?? '') } : client;
  const refusal = findRefusal(gateway, call);
  const known =
    refusal !== null || exchange.force !== undefined || isNamedByToken(call)
      ? await authenticate(exchange, call)
      : findKnown(gateway, presented);
  if (known === undefined) return countAfterwards(exchange, call, presented);
  exchange.clientId = known;
  const allowance = refusal ?? (await take(exchange, call, known));
  showAllowance(exchange.response, allowance);
  gateway.limits.require(allowance);
  exchange.force?.();
  try {
    return await call.send({ ...client, clientId: client.clientId ?? known }, known);
  } catch (error) {
    if (error instanceof AppError && error.reason === 'unauthorized') {
      knownClients.forget(presented);
      exchange.clientId = undefined;
    }
    throw error;
  }
}

type Presented = Credentials & { readonly address?: string };

/** An assertion works once, so that it was right before says nothing. */
function findKnown({ knownClients }: Gateway, presented: Presented): string | undefined {
  return presented.clientAssertion === undefined ? knownClients.find(presented) : undefined;
}

/** The refusal of an assertion whose app this gateway knows to have used up its limit. */
function findRefusal(
  { limits }: Gateway,
  { client, isCostly = false }: ClientCall<unknown>,
): Allowance | null {
  const { clientAssertion, clientId } = client;
  if (clientAssertion === undefined || clientId === undefined) return null;
  const refusal = limits.findRefusal('client', clientId);
  return refusal ?? (isCostly ? limits.findRefusal('client-credentials', clientId) : null);
}

function isNamedByToken({ client, refreshToken = '' }: ClientCall<unknown>): boolean {
  return Object.keys(client).length === 0 && refreshToken !== '';
}

async function authenticate({ gateway }: Exchange, call: ClientCall<unknown>): Promise<string> {
  const { client, refreshToken = '' } = call;
  const named = isNamedByToken(call) ? { refreshToken } : { client };
  return (await gateway.backends.authorization.authenticateClient(named)).clientId;
}

async function countAfterwards<T extends { readonly clientId: string }>(
  exchange: Exchange,
  call: ClientCall<T>,
  presented: Presented,
): Promise<T> {
  const { gateway, request, response } = exchange;
  const count = async (clientId: string) => {
    exchange.clientId = clientId;
    const allowance = await take(exchange, call, clientId);
    showAllowance(response, allowance);
    const isNamed = (presented.clientId ?? clientId) === clientId;
    if (isNamed && presented.clientAssertion === undefined) gateway.knownClients.add(presented, clientId);
  };
  try {
    // Not the turn of the app that it claims to be.
    const answer = await call.send(call.client, gateway.networkOf(request.ip ?? ''));
    await count(answer.clientId);
    return answer;
  } catch (error) {
    if (error instanceof AppError && error.clientId !== undefined) await count(error.clientId);
    throw error;
  }
}

async function take(
  { gateway, request, isPublicCall }: Exchange,
  { isCostly = false }: Pick<ClientCall<unknown>, 'isCostly'>,
  clientId: string,
): Promise<Allowance> {
  const { limits } = gateway;
  const allowance = await (isPublicCall
    ? limits.take('public-clients', `${clientId}:${toAddressKey(request.ip ?? '')}`)
    : limits.take('client', clientId));
  return allowance.allowed && isCostly ? limits.take('client-credentials', clientId) : allowance;
}

const BASIC = /^Basic +([A-Za-z0-9+/]+=*)$/i;

/**
 * The credentials of a request: a secret from HTTP Basic (form-decoded, RFC 6749 2.3.1) or from the body, or an assertion. Throws
 * `invalid_request` for two credentials or two client ids, `unauthorized` for an `Authorization` that is not Basic.
 */
export function readCredentials(exchange: Exchange, parameters: OauthParameters): Credentials {
  const clientAssertion = readAssertion(parameters);
  // Without a value they count as omitted (RFC 6749 section 3.2).
  const clientId = parameters.get('client_id') || findAssertedId(clientAssertion);
  const clientSecret = parameters.get('client_secret') || undefined;
  const { authorization } = exchange;
  exchange.presentedClientId = clientId;
  if (authorization.length === 0) {
    if (clientAssertion !== undefined && clientSecret !== undefined) throw twoCredentials('client_assertion');
    return omitAbsent({ clientId, clientSecret, clientAssertion });
  }
  const basic = parseBasic(authorization);
  exchange.presentedClientId = basic.clientId;
  if (clientSecret !== undefined) {
    throw invalidRequest('client_secret', 'must not be sent both in the body and in Authorization');
  }
  if (clientAssertion !== undefined) throw twoCredentials('client_assertion');
  if (clientId !== undefined && clientId !== basic.clientId) {
    throw invalidRequest('client_id', 'differs from the one in Authorization');
  }
  return basic;
}

function twoCredentials(parameter: string): AppError {
  return invalidRequest(parameter, 'must not be sent together with a secret');
}

/** Throws `invalid_request` for an assertion of another type, and for a type without an assertion. */
function readAssertion(parameters: OauthParameters): string | undefined {
  const assertion = parameters.get('client_assertion');
  const type = parameters.get('client_assertion_type');
  if (assertion === undefined && type === undefined) return undefined;
  if (assertion === undefined)
    throw invalidRequest('client_assertion', 'is required with client_assertion_type');
  if (type !== CLIENT_ASSERTION_TYPE) {
    throw invalidRequest('client_assertion_type', `must be ${CLIENT_ASSERTION_TYPE}`);
  }
  return assertion;
}

/** The client id in an assertion (RFC 7523 section 3), not verified. */
function findAssertedId(assertion: string | undefined): string | undefined {
  const subject = assertion === undefined ? undefined : readSubject(assertion);
  return typeof subject === 'string' && isId('app', subject) ? subject : undefined;
}

function parseBasic(fields: readonly string[]): { clientId: string; clientSecret: string } {
  const encoded = fields.length === 1 ? BASIC.exec(fields[0] ?? '')?.[1] : undefined;
  if (encoded === undefined) throw unauthorized('not one Basic field');
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon === -1) throw unauthorized('Basic without a colon');
  try {
    return {
      clientId: decode(text.slice(0, colon), 'client_id'),
      clientSecret: decode(text.slice(colon + 1), 'client_secret'),
    };
  } catch (cause) {
    throw unauthorized(cause);
  }
}

function omitAbsent(given: Readonly<Record<keyof Credentials, string | undefined>>): Credentials {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** The header field of requests that may have a proof. */
export const PROOF_HEADERS: Fields = {
  DPoP: text.optional().meta({
    description:
      'A proof of possession (RFC 9449) for this request. The tokens get bound to its key. Its mistakes are INVALID_DPOP_PROOF.',
  }),
};

/**
 * The DPoP proof of an OAuth request; undefined without one. Throws `invalid_dpop_proof` for mistakes that it shows by itself, so that
 * they are answered alike for every client. Authorization checks all of it, with the signature.
 */
export function findProof(exchange: Exchange): string | undefined {
  const { gateway, request } = exchange;
  const { dpop: proof } = request.headers;
  if (typeof proof !== 'string') return undefined;
  const url = publicUrlOf(exchange);
  const { method } = request;
  const read = readProof(proof, { method, url, accessToken: null, now: gateway.clock.now() });
  if (!('fault' in read)) return proof;
  throw new AppError('invalid_dpop_proof', `The DPoP proof is refused: ${read.fault}.`);
}
