import type { IncomingMessage } from 'node:http';
import { invalidRequest, type Violation } from '@phds/service-kit/errors';
import type { z } from 'zod';
import { findSuggestion } from '../domain/suggestion.ts';
import { FORM_TYPE, parseJsonObject, readBody } from './body.ts';
import { unsupportedMediaType } from './http-error.ts';
import { parsePairs } from './query.ts';

export interface JsonBodyOptions {
  readonly maxBytes: number;
  /** An absent body means `{}`. */
  readonly optional?: boolean;
  /** For bodies that an HTML form may send: turns its fields into the object that JSON would have been. */
  readonly fromForm?: (fields: readonly [name: string, value: string][]) => Record<string, unknown>;
}

/** Reads a JSON body by a strict schema; throws 413, 415, or `invalid_request` naming each field at fault. */
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
  const fields = Object.keys(schema.shape);
  throw invalidRequest(result.error.issues.flatMap((issue) => toViolations(issue, fields)));
}

function toViolations(issue: z.core.$ZodIssue, fields: readonly string[]): Violation[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((parameter) => {
      const suggestion = findSuggestion(parameter, fields);
      const hint = suggestion === null ? '' : `; did you mean "${suggestion}"?`;
      return { parameter, message: `unknown field${hint}` };
    });
  }
  return [{ parameter: issue.path.join('.') || 'body', message: issue.message }];
}
