import type { IncomingMessage } from 'node:http';
import { invalidRequest } from '@phds/service-kit/errors';
import { JSON_TYPE, parseJsonObject, readBody } from '../body.ts';
import { parseQuery } from '../query.ts';

/** Parameters of an OAuth request. A parameter that was sent empty has an empty value; one that was not sent is missing. */
export type OauthParameters = ReadonlyMap<string, string>;

const STRING_TOKEN = /"(?:[^"\\]|\\.)*"/g;

/**
 * Reads the JSON or form body of an OAuth request. Throws 413, 415, or `invalid_request` for a body that does not parse, a repeated
 * parameter, or a value that is not a string.
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

/** A parameter keyed by its proto field name; an empty object when it was not sent. */
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
  // JSON.parse silently keeps the last of two equal names. In an object of strings, each member has two string tokens, so a
  // different count shows a repetition.
  const tokens = text.match(STRING_TOKEN)?.length ?? 0;
  if (tokens !== entries.length * 2) throw givenTwice(['body']);
  return new Map(entries as [string, string][]);
}

function givenTwice(parameters: readonly string[]) {
  return invalidRequest(parameters.map((parameter) => ({ parameter, message: 'has a parameter twice' })));
}
