import type { IncomingMessage } from 'node:http';
import { invalidRequest } from '@phds/service-kit/errors';
import { JSON_TYPE, parseJsonObject, readBody } from '../body.ts';
import { parseQuery } from '../query.ts';

/** Parameters of an OAuth request. What was not sent is absent; what was sent empty is empty. */
export type OauthParameters = ReadonlyMap<string, string>;

const STRING_TOKEN = /"(?:[^"\\]|\\.)*"/g;

/**
 * Reads the body of an OAuth request, JSON or form. Throws 413, 415, or `invalid_request`: not parsable, a parameter twice, a value
 * that is no string.
 */
export async function readOauthParameters(
  request: IncomingMessage,
  maxBytes: number,
): Promise<OauthParameters> {
  const { type, text } = await readBody(request, maxBytes);
  return type === JSON_TYPE ? parseJsonParameters(text) : parseFormParameters(text);
}

/** Parses form text, as in a body or a query string. */
export function parseFormParameters(text: string): OauthParameters {
  const { values, repeated } = parseQuery(text);
  if (repeated.size > 0) throw givenTwice([...repeated]);
  return values;
}

/** A parameter under the name of its proto field; nothing when it was not sent. */
export function pick<F extends string>(
  parameters: OauthParameters,
  field: F,
  name: string,
): { [K in F]?: string } {
  const value = parameters.get(name);
  return (value === undefined ? {} : { [field]: value }) as { [K in F]?: string };
}

function parseJsonParameters(text: string): OauthParameters {
  const entries = Object.entries(parseJsonObject(text));
  const notText = entries.filter(([, value]) => typeof value !== 'string' || !value.isWellFormed());
  if (notText.length > 0) {
    throw invalidRequest(notText.map(([parameter]) => ({ parameter, message: 'must be a string' })));
  }
  // JSON.parse keeps the last of equal names. In an object of strings alone, two string tokens make one member.
  const tokens = text.match(STRING_TOKEN)?.length ?? 0;
  if (tokens !== entries.length * 2) throw givenTwice(['body']);
  return new Map(entries as [string, string][]);
}

function givenTwice(parameters: readonly string[]) {
  return invalidRequest(parameters.map((parameter) => ({ parameter, message: 'has a parameter twice' })));
}
