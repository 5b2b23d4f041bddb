import type { z } from 'zod';
import { type HeaderName, LIMITED } from './headers.ts';
import type { Answer, ErrorCode, Operation } from './operation.ts';

type Given<Optional extends keyof Operation> = Omit<Operation, Optional> & Partial<Pick<Operation, Optional>>;

/** Fields of every success on people's surfaces. */
const OF_A_SESSION: readonly HeaderName[] = [...LIMITED, 'Cache-Control'];

/** Errors of every operation with a session: an unknown query parameter or a URL that is too long is INVALID_REQUEST. */
const SESSION_ERRORS: readonly ErrorCode[] = [
  'INVALID_REQUEST',
  'UNAUTHORIZED',
  'RATE_LIMITED',
  'INTERNAL_ERROR',
];

/** An operation of people's surfaces. `errors` lists those that not every such operation has. */
export function sessionOperation(given: Given<'security' | 'errorFormat' | 'errors'>): Operation {
  return {
    security: 'session',
    errorFormat: 'problem',
    ...given,
    answers: withHeaders(given.answers, OF_A_SESSION),
    errors: [...SESSION_ERRORS, ...(given.errors ?? [])],
  };
}

interface PublicDocument {
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly body: z.ZodType;
  readonly errors?: readonly ErrorCode[];
}

/** `GET` of a document that is open to every origin. Only a URL that is too long is refused. */
export function publicDocument({ body, ...given }: PublicDocument): Operation {
  const fields: readonly HeaderName[] = ['Cache-Control', 'Access-Control-Allow-Origin'];
  return {
    method: 'GET',
    tag: 'Documents',
    security: 'none',
    answers: { 200: { description: 'The document.', body, headers: fields } },
    errorFormat: 'problem',
    errors: ['INVALID_REQUEST'],
    ...given,
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
