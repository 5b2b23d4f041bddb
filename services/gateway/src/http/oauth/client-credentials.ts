import type { MessageInitShape } from '@bufbuild/protobuf';
import type { ClientCredentialsSchema } from '@phds/contracts/phds/authorization/v1/authorization_pb';
import { invalidRequest, unauthorized } from '@phds/service-kit/errors';
import { applyAllowance } from '../allowance.ts';
import type { Exchange } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import { decode } from '../query.ts';
import type { OauthParameters } from './parameters.ts';

/** The credentials that an app presents, which authorization verifies. */
export type Credentials = MessageInitShape<typeof ClientCredentialsSchema>;

/**
 * Authenticates an app and counts the request against its limit. Throws `unauthorized` before anything is counted, then
 * `rate_limited`. Returns the app's client id.
 */
export async function limitClient(
  gateway: Gateway,
  { response }: Exchange,
  client: Credentials,
): Promise<string> {
  const { clientId } = await gateway.backends.authorization.authenticateClient({ client });
  applyAllowance(response, await gateway.surfaceLimits.takeForClient(clientId));
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
