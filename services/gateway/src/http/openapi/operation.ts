import type { ProblemCode } from '@phds/catalog/problems';
import type { z } from 'zod';
import type { Fields } from './fields.ts';
import type { HeaderName } from './headers.ts';

/** The groups of operations in the document, with their descriptions. */
export const TAGS = {
  Data: 'The health data of a person, for an access token that the person has approved.',
  OAuth: 'How an app gets, renews and ends its tokens. Bodies may be JSON or form-encoded.',
  Apps: 'A developer’s own apps. Needs the session of the developer.',
  Consent: 'What a person shares with apps, and what the apps have read. Needs the session of the person.',
  Session: 'The session of a person in a browser.',
  Documents: 'Public documents, open to every origin.',
  Probes: 'For the operator’s load balancer.',
} as const;

/**
 * Who may call an operation: nobody in particular, a person with a session, an app with its client id and secret (`optional-client`:
 * the secret may be absent), an app with its own access token, or an access token of a person with one of the scopes.
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

export interface RequestBody {
  /** The very schema that the handler parses. */
  readonly schema: z.ZodType;
  /** Whether the body may be absent. */
  readonly optional?: boolean;
  /** The media types; `application/json` if absent. */
  readonly types?: readonly string[];
}

/** An error code; with a status where the operation uses only one of several. */
export type ErrorCode = ProblemCode | readonly [code: ProblemCode, status: number];

/**
 * One method of one path of the public interface. The OpenAPI document is made of these, and a test compares them with the routes that
 * are mounted.
 */
export interface Operation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** As mounted, with its prefix: `/developer/apps/:clientId`. */
  readonly path: string;
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
  /** By status. Errors are in `errors`, except those that are pages. */
  readonly answers: Readonly<Record<number, Answer>>;
  readonly errorFormat: 'problem' | 'oauth';
  readonly errors: readonly ErrorCode[];
  /** Header fields that some errors of this operation have, and not those of every operation. */
  readonly errorHeaders?: readonly HeaderName[];
}
