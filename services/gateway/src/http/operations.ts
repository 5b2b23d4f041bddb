import { FHIR_PREFIX } from '@phds/catalog/fhir/resource-types';
import { z } from 'zod';
import type { Config } from '../config.ts';
import { API_OPERATIONS } from './api/operations.ts';
import { ACTIVITY_OPERATIONS } from './developer/activity.ts';
import { APP_OPERATIONS } from './developer/apps.ts';
import { WEBHOOK_BODIES, WEBHOOK_OPERATIONS } from './developer/webhook.ts';
import { FHIR_DOCUMENTS } from './fhir/documents.ts';
import { FHIR_OPERATIONS } from './fhir/operations.ts';
import { FORCE_HEADERS, isForceable } from './forced-errors.ts';
import { AUTHORIZE_OPERATIONS } from './oauth/authorize.ts';
import { LIST_SCOPES, SERVER_METADATA } from './oauth/metadata.ts';
import { OWN_GRANT_OPERATIONS } from './oauth/own-grants.ts';
import { TOKEN_OPERATIONS } from './oauth/tokens.ts';
import { describe, toDocument } from './openapi/document.ts';
import { type MountedOperation, type Operation, publicDocument } from './operation.ts';
import { ACCESS_OPERATIONS } from './partner/accesses.ts';
import { GRANT_OPERATIONS } from './partner/grants.ts';
import { OPERATOR_ACT_OPERATIONS } from './partner/operator-acts.ts';
import { OWN_DATA_OPERATIONS } from './partner/own-data.ts';
import { PENDING_OPERATIONS } from './partner/pending-approvals.ts';
import { CATALOG, RECEIPT_KEYS } from './public/documents.ts';
import { PROBES } from './public/readiness.ts';
import { PULL_TRIGGER } from './sandbox.ts';
import { SIGN_OUT_OPERATIONS } from './sign-in/sign-out.ts';

const OPEN_API = publicDocument({
  path: '/openapi.json',
  operationId: 'getOpenApi',
  summary: 'Describe this interface (OpenAPI 3.1)',
  body: z.looseObject({ openapi: z.literal('3.1.1'), paths: z.looseObject({}) }),
  toContent: ({ config }) => toOpenApiDocument(config),
});

/** The mounted operations by the prefix of their paths. */
export const SURFACES = {
  '/oauth': [...AUTHORIZE_OPERATIONS, ...TOKEN_OPERATIONS, ...OWN_GRANT_OPERATIONS, LIST_SCOPES],
  [FHIR_PREFIX]: FHIR_DOCUMENTS,
  '/developer': [...APP_OPERATIONS, ...ACTIVITY_OPERATIONS, ...WEBHOOK_OPERATIONS],
  '/partner': [
    ...PENDING_OPERATIONS,
    ...GRANT_OPERATIONS,
    ...ACCESS_OPERATIONS,
    ...OPERATOR_ACT_OPERATIONS,
    ...OWN_DATA_OPERATIONS,
  ],
  '': [...SIGN_OUT_OPERATIONS, SERVER_METADATA, RECEIPT_KEYS, CATALOG, OPEN_API, ...PROBES],
} as const satisfies Readonly<Record<string, readonly MountedOperation[]>>;

/** What a sandbox deployment has in addition. */
export const SANDBOX_OPERATIONS: readonly MountedOperation[] = [PULL_TRIGGER];

/** Every operation of the public interface. Only pages for browsers are missing. */
export const OPERATIONS: readonly Operation[] = [
  ...API_OPERATIONS,
  ...FHIR_OPERATIONS,
  ...Object.values(SURFACES).flat(),
];

/** `GET /openapi.json`: the public interface in OpenAPI 3.1, in a sandbox deployment with its additions. */
export function toOpenApiDocument(config: Pick<Config, 'PUBLIC_URL' | 'SANDBOX'>) {
  const operations = config.SANDBOX ? [...OPERATIONS.map(withForced), ...SANDBOX_OPERATIONS] : OPERATIONS;
  return toDocument(describe(operations, WEBHOOK_BODIES), config);
}

function withForced(operation: Operation): Operation {
  const { requestHeaders, errors } = operation;
  if (isForceable(operation))
    return { ...operation, requestHeaders: { ...FORCE_HEADERS, ...requestHeaders } };
  // The header is refused.
  return errors.includes('INVALID_REQUEST')
    ? operation
    : { ...operation, errors: [...errors, 'INVALID_REQUEST'] };
}
