import type { ServerResponse } from 'node:http';
import { FHIR_PREFIX } from '@phds/catalog/fhir/resource-types';
import type { AppError } from '@phds/service-kit/errors';
import { detailOf, errorHeaders, meaningOf, toChallenge } from '../http-error.ts';
import { type Headers, send } from '../respond.ts';

/** The media type of resources, without its charset. */
export const FHIR_JSON = 'application/fhir+json';
export const FHIR_MEDIA_TYPE = `${FHIR_JSON}; charset=utf-8`;

/** The issue type of R4 for each status. */
const ISSUES: Readonly<Record<number, string>> = {
  401: 'expired',
  403: 'forbidden',
  404: 'not-found',
  405: 'not-supported',
  406: 'not-supported',
  410: 'expired',
  413: 'too-long',
  429: 'throttled',
  500: 'exception',
  503: 'transient',
};

/** The issue types that are used. */
export const ISSUE_TYPES = [...new Set(['invalid', ...Object.values(ISSUES)])];

/** An error as OperationOutcome. `diagnostics` names the parameters at fault, or the scope that is missing. */
function toOutcome(error: AppError, publicUrl: string) {
  const { status, code, title } = meaningOf(error);
  const { violations, requiredScope, message } = error;
  const diagnostics = violations.length > 0 ? message : requiredScope && `The scope is ${requiredScope}.`;
  const issue = {
    severity: 'error',
    code: ISSUES[status] ?? 'invalid',
    details: {
      coding: [{ system: `${publicUrl}${FHIR_PREFIX}/CodeSystem/problem`, code }],
      text: violations.length > 0 ? title : detailOf(error),
    },
    diagnostics,
  };
  return { resourceType: 'OperationOutcome', issue: [issue] };
}

/** Sends an error of the FHIR interface. Authentication failures get the uniform 401 instead. */
export function sendOutcome(
  response: ServerResponse,
  error: AppError,
  { publicUrl, requestId }: { readonly publicUrl: string; readonly requestId: string },
  extra: Headers,
): void {
  const headers = {
    'Content-Type': FHIR_MEDIA_TYPE,
    'X-Request-Id': requestId,
    ...toChallenge(error),
    ...errorHeaders(error),
    ...extra,
  };
  send(response, meaningOf(error).status, headers, JSON.stringify(toOutcome(error, publicUrl)));
}
