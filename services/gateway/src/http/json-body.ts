import type { IncomingMessage } from 'node:http';
import { type AppError, invalidRequest } from '@phds/service-kit/errors';
import type { z } from 'zod';
import { FORM_TYPE, parseJsonObject, readBody } from './body.ts';
import { unsupportedMediaType } from './http-error.ts';
import { parsePairs } from './query.ts';
import { Violations } from './violations.ts';

export interface JsonBodyOptions {
  readonly maxBytes: number;
  /** Treats an absent body as `{}`. */
  readonly optional?: boolean;
  /** For bodies that an HTML form may send: converts its fields to the equivalent JSON object. */
  readonly fromForm?: (fields: readonly [name: string, value: string][]) => Record<string, unknown>;
}

/** Reads a JSON body and validates it against a strict schema. Throws 413, 415, or `invalid_request` naming each invalid field. */
export async function readJsonBody<S extends z.ZodObject>(
  request: IncomingMessage,
  schema: S,
  { maxBytes, optional = false, fromForm }: JsonBodyOptions,
): Promise<z.infer<S>> {
  const { type, text } = await readBody(request, maxBytes);
  const isForm = type === FORM_TYPE && request.headers['content-type'] !== undefined;
  if (isForm && fromForm !== undefined) return parseBySchema(schema, fromForm(parsePairs(text)));
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
