import { PROBLEM_CODES, PROBLEMS, type ProblemCode, toProblemType } from '@phds/catalog/problems';
import { z } from 'zod';
import { FHIR_JSON, ISSUE_TYPES } from '../fhir/outcome.ts';
import { toOauthErrorName } from '../http-error.ts';
import type { ErrorCode, Operation } from '../operation.ts';
import { type HeaderName, scope, text, toHeaderReferences } from './fields.ts';
import type { SchemaComponents } from './schemas.ts';

const violations = z
  .array(z.object({ parameter: text, message: text }).meta({ id: 'Violation' }))
  .meta({ description: 'Every parameter at fault.' });

/** The members that one code has and others do not have. */
const MEMBERS: Partial<Record<ProblemCode, z.ZodRawShape>> = {
  INVALID_REQUEST: { errors: violations },
  INSUFFICIENT_SCOPE: { requiredScope: scope },
  CONSENT_REQUIRED: { requiredScope: scope },
  UNSUPPORTED_VERSION: { supportedVersions: z.array(text) },
};

const requestId = text.meta({ description: 'As in `X-Request-Id`.' });

/** The body of an error (RFC 9457). The uniform 401 has no request id. */
function toProblemSchema(code: ProblemCode) {
  return z
    .object({
      type: z.literal(toProblemType(code)).meta({ description: 'The address of a page about the code.' }),
      title: text,
      status: z.literal([...PROBLEMS[code].statuses]),
      code: z.literal(code),
      detail: text,
      ...(code === 'UNAUTHORIZED' ? {} : { requestId }),
      ...MEMBERS[code],
    })
    .meta({ id: `${toName(code)}Problem`, description: PROBLEMS[code].meaning });
}

/** The body of an error under `/oauth` (RFC 6749 5.2). */
function toOauthErrorSchema(code: ProblemCode) {
  return z
    .object({ error: z.literal(toOauthErrorName(code)), error_description: text, code: z.literal(code) })
    .meta({ id: `${toName(code)}Error`, description: PROBLEMS[code].meaning });
}

/** The forms of all errors, for requests that reach no operation. */
export const ANY_ERROR = {
  problem: z
    .object({
      type: text.meta({ description: 'The address of a page about the code.' }),
      title: text,
      status: z.int(),
      code: z.enum(PROBLEM_CODES),
      detail: text,
      requestId: requestId.optional(),
      errors: violations.optional(),
      requiredScope: scope.optional(),
      supportedVersions: z.array(text).optional(),
    })
    .meta({
      id: 'Problem',
      description: 'Any error outside of `/oauth` (RFC 9457).',
      externalDocs: { url: '/problems', description: 'What each code means and what to do.' },
    }),
  oauth: z
    .object({ error: text, error_description: text, code: z.enum(PROBLEM_CODES) })
    .meta({ id: 'OauthError', description: 'Any error under `/oauth` (RFC 6749 5.2).' }),
  fhir: z
    .object({
      resourceType: z.literal('OperationOutcome'),
      issue: z.array(
        z.object({
          severity: z.literal('error'),
          code: z.enum(ISSUE_TYPES),
          details: z.object({
            coding: z.array(z.object({ system: text, code: z.enum(PROBLEM_CODES) })),
            text,
          }),
          diagnostics: text
            .optional()
            .meta({ description: 'The parameters at fault and why, or the scope that is missing.' }),
        }),
      ),
    })
    .meta({
      id: 'OperationOutcome',
      description: 'Any error of the FHIR interface but the uniform 401 (FHIR R4).',
    }),
} as const;

function toName(code: ProblemCode): string {
  return code
    .toLowerCase()
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}

const byCode = <T>(toSchema: (code: ProblemCode) => T) =>
  new Map(PROBLEM_CODES.map((code) => [code, toSchema(code)]));
const SCHEMAS = {
  problem: byCode(toProblemSchema),
  oauth: byCode(toOauthErrorSchema),
  fhir: byCode(() => ANY_ERROR.fhir),
} as const;
const MEDIA_TYPES = {
  problem: 'application/problem+json',
  oauth: 'application/json',
  fhir: FHIR_JSON,
} as const;

/** The codes of an operation by status. */
export function groupErrors({ errors, body }: Operation): ReadonlyMap<number, readonly ProblemCode[]> {
  const pairs = errors.flatMap((error) => {
    const [code, only] = toCode(error);
    return statusesOf(code, only, body !== undefined).map((status) => ({ code, status }));
  });
  const byStatus = Map.groupBy(pairs, ({ status }) => status);
  return new Map([...byStatus].map(([status, found]) => [status, found.map(({ code }) => code)]));
}

function toCode(error: ErrorCode): readonly [code: ProblemCode, status: number | null] {
  return typeof error === 'string' ? [error, null] : error;
}

/** 405, 408, 417 and 431 are answered before a request reaches an operation; operations with 406 name it. */
const STATUSES_WITHOUT_OPERATION: ReadonlySet<number> = new Set([405, 406, 408, 417, 431]);
const OF_A_BODY: ReadonlySet<number> = new Set([413, 415]);

function statusesOf(code: ProblemCode, only: number | null, hasBody: boolean): readonly number[] {
  if (only !== null) return [only];
  return PROBLEMS[code].statuses.filter(
    (status) => !STATUSES_WITHOUT_OPERATION.has(status) && (hasBody || !OF_A_BODY.has(status)),
  );
}

/** The response with one of these codes. */
export function toErrorResponse(
  operation: Operation,
  status: number,
  codes: readonly ProblemCode[],
  schemas: SchemaComponents,
) {
  const { errorFormat } = operation;
  // The uniform 401 is the same everywhere but under `/oauth`.
  const formatOf = (code: ProblemCode) =>
    code === 'UNAUTHORIZED' && errorFormat === 'fhir' ? 'problem' : errorFormat;
  const byType = Map.groupBy(codes, (code) => MEDIA_TYPES[formatOf(code)]);
  const content = [...byType].map(([type, ofType]) => {
    const schemasOf = ofType.map((code) => SCHEMAS[formatOf(code)].get(code) as z.ZodType);
    const bodies = [...new Set(schemasOf)].map((schema) => schemas.add(schema, 'output'));
    return [type, { schema: bodies.length === 1 ? bodies[0] : { anyOf: bodies } }];
  });
  return {
    description: codes.join(' or '),
    headers: toErrorHeaders(operation, status, codes),
    content: Object.fromEntries(content),
  };
}

/** The uniform 401 has only `WWW-Authenticate`; errors before the limit was counted have no fields of the limit. */
function toErrorHeaders(
  { tag, errorFormat, errorHeaders = [] }: Operation,
  status: number,
  codes: readonly ProblemCode[],
) {
  const uniform = codes.includes('UNAUTHORIZED');
  const always: HeaderName[] = uniform
    ? ['WWW-Authenticate', 'Cache-Control']
    : ['X-Request-Id', 'Cache-Control'];
  const sometimes: HeaderName[] = ['RateLimit-Policy', 'RateLimit', ...errorHeaders];
  if (errorFormat === 'oauth') always.push('Pragma');
  if (status === 429 || status === 503) always.push('Retry-After');
  if (uniform && codes.length > 1) sometimes.push('X-Request-Id');
  if (codes.includes('INSUFFICIENT_SCOPE')) sometimes.push('WWW-Authenticate');
  if (tag === 'Data') sometimes.push('API-Version', 'Deprecation', 'Sunset');
  return toHeaderReferences(always, uniform && codes.length === 1 ? [] : sometimes);
}
