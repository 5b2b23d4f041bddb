import type { IncomingMessage } from 'node:http';
import { type AppError, invalidRequest } from '@phds/service-kit/errors';
import type { z } from 'zod';
import type { Exchange } from './exchange.ts';
import { bodyTooLarge, unsupportedMediaType } from './http-error.ts';
import { Violations } from './query.ts';

export const JSON_TYPE = 'application/json';
export const FORM_TYPE = 'application/x-www-form-urlencoded';
const BOTH_TYPES = `${JSON_TYPE} or ${FORM_TYPE}`;

/** The text of a body and its media type. An empty body may have no type. */
interface Body {
  readonly type: typeof JSON_TYPE | typeof FORM_TYPE;
  readonly text: string;
}

/** Reads a JSON or form body as text; `accepted` is what an error names. Throws 413, 415, or `invalid_request` when it is not UTF-8 or is cut off. */
export async function readBody(
  request: IncomingMessage,
  maxBytes: number,
  accepted = BOTH_TYPES,
): Promise<Body> {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') throw unsupportedMediaType(accepted);
  const bytes = await readBytes(request, maxBytes);
  const type = findType(request.headers['content-type']);
  if (type === null && bytes.length > 0) throw unsupportedMediaType(accepted);
  return { type: type ?? FORM_TYPE, text: decodeUtf8(bytes) };
}

/** us-ascii is a part of UTF-8. */
const JSON_CHARSETS: ReadonlySet<string> = new Set(['utf-8', 'utf8', 'us-ascii']);

/** A form has no charset (WHATWG URL, section 5): what clients write there does not change its meaning. */
function findType(contentType: string | undefined): Body['type'] | null {
  const [type = '', ...parameters] = (contentType ?? '')
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length);
  if (type === FORM_TYPE) return type;
  const isUtf8 = charset === undefined || JSON_CHARSETS.has(charset.replaceAll('"', ''));
  return type === JSON_TYPE && isUtf8 ? type : null;
}

async function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw drain(request, maxBytes);
  const chunks: Buffer[] = [];
  let length = 0;
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  request.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length <= maxBytes) chunks.push(chunk);
    else {
      chunks.length = 0;
      reject(drain(request, maxBytes));
    }
  });
  const breakOff = () => {
    if (!request.readableEnded) reject(invalidRequest('body', 'broke off before its end'));
  };
  // The events were missed if the client has already disconnected.
  if (request.destroyed) breakOff();
  request.on('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
  request.on('error', breakOff).on('close', breakOff);
  return promise;
}

/** Reads and discards the rest of the body so that the client can receive the answer. The server's request timeout bounds it. */
function drain(request: IncomingMessage, maxBytes: number): Error {
  request.resume();
  return bodyTooLarge(maxBytes);
}

function decodeUtf8(bytes: Buffer): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (!text.includes('\0')) return text;
  } catch {
    // Reported below.
  }
  throw invalidRequest('body', 'must be UTF-8 without NUL');
}

/** Parses a JSON object; throws `invalid_request`. */
export function parseJsonObject(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalidRequest('body', 'is not JSON');
  }
  // NUL, but not a backslash before `u0000`.
  if (/(?<!\\)(?:\\\\)*\\u0000/.test(text)) throw invalidRequest('body', 'must not contain NUL');
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidRequest('body', 'must be a JSON object');
  }
  return value as Record<string, unknown>;
}

interface JsonBody<S extends z.ZodObject> {
  readonly schema: S;
  /** Treats an absent body as `{}`. */
  readonly optional?: boolean;
}

/** Reads a JSON body and validates it against a strict schema. Throws 413, 415, or `invalid_request` naming each invalid field. */
export async function readJsonBody<S extends z.ZodObject>(
  { gateway, request }: Exchange,
  { schema, optional = false }: JsonBody<S>,
): Promise<z.infer<S>> {
  const { type, text } = await readBody(request, gateway.config.MAX_BODY_BYTES);
  const isForm = type === FORM_TYPE && request.headers['content-type'] !== undefined;
  if (text === '') {
    if (optional) return parseBySchema(schema, {});
    throw invalidRequest('body', 'is missing');
  }
  if (isForm) throw unsupportedMediaType('application/json');
  return parseBySchema(schema, parseJsonObject(text));
}

function parseBySchema<S extends z.ZodObject>(schema: S, value: Record<string, unknown>): z.infer<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw toInvalidRequest(result.error.issues, Object.keys(schema.shape));
}

function toInvalidRequest(issues: readonly z.core.$ZodIssue[], fields: readonly string[]): AppError {
  const violations = new Violations();
  for (const issue of issues) {
    if (issue.code === 'unrecognized_keys') {
      for (const name of issue.keys) violations.addUnknown(name, fields, 'field');
    } else violations.add(issue.path.join('.') || 'body', issue.message);
  }
  return violations.toError();
}
