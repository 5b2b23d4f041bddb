import { AppError, invalidRequest, unauthorized } from '@phds/service-kit/errors';
import { applyAllowance } from '../allowance.ts';
import type { Exchange } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import { decode } from '../query.ts';
import type { OauthParameters } from './parameters.ts';

/** The credentials that an app presents, which authorization verifies. */
export interface Credentials {
  readonly clientId?: string;
  readonly clientSecret?: string;
}

/**
 * Counts a request against the limit of its app, then runs `call`, which sends the credentials to authorization. Throws
 * `unauthorized` before anything is counted, then `rate_limited`. Credentials that were right before are counted without asking
 * authorization first; when `call` finds that they no longer are, they are forgotten. So a replaced secret can use up one request
 * of the limit at each gateway.
 */
export async function callAsClient<T>(
  gateway: Gateway,
  exchange: Exchange,
  client: Credentials,
  call: (clientId: string) => Promise<T>,
): Promise<T> {
  const { knownClients, surfaceLimits } = gateway;
  const clientId = knownClients.find(client) ?? (await authenticate(gateway, client));
  exchange.clientId = clientId;
  applyAllowance(exchange.response, await surfaceLimits.takeForClient(clientId));
  try {
    return await call(clientId);
  } catch (error) {
    if (error instanceof AppError && error.reason === 'unauthorized') {
      knownClients.forget(client);
      exchange.clientId = undefined;
    }
    throw error;
  }
}

async function authenticate({ backends, knownClients }: Gateway, client: Credentials): Promise<string> {
  const { clientId } = await backends.authorization.authenticateClient({ client });
  knownClients.add(client, clientId);
  return clientId;
}

const BASIC = /^Basic +([A-Za-z0-9+/]+=*)$/i;

/**
 * The credentials of a request, from HTTP Basic (form-decoded, RFC 6749 2.3.1) or from the body. Throws `invalid_request` for two
 * secrets or two client ids, `unauthorized` for an `Authorization` that is not Basic.
 */
export function readCredentials(exchange: Exchange, parameters: OauthParameters): Credentials {
  const clientId = parameters.get('client_id');
  const clientSecret = parameters.get('client_secret');
  const fields = exchange.request.headersDistinct['authorization'];
  exchange.presentedClientId = clientId;
  if (fields === undefined) return toCredentials(clientId, clientSecret);
  const basic = parseBasic(fields);
  exchange.presentedClientId = basic.clientId;
  if (clientSecret !== undefined) {
    throw invalidRequest('client_secret', 'must not be sent both in the body and in Authorization');
  }
  if (clientId !== undefined && clientId !== basic.clientId) {
    throw invalidRequest('client_id', 'differs from the one in Authorization');
  }
  return toCredentials(basic.clientId, basic.clientSecret);
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

function toCredentials(clientId: string | undefined, clientSecret: string | undefined): Credentials {
  return {
    ...(clientId === undefined ? {} : { clientId }),
    ...(clientSecret === undefined ? {} : { clientSecret }),
  };
}
