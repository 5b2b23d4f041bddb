import { FORM_TYPE, JSON_TYPE } from '../body.ts';
import { dataOf, listOf, PAGE_QUERY } from '../openapi/fields.ts';
import type { ErrorCode, Operation } from '../openapi/operation.ts';
import { sessionOperation } from '../openapi/operation-kinds.ts';
import { approvalJson, denialJson, extensionJson, pendingJson, releasedJson, reportJson } from './answers.ts';
import { approvalTerms, PENDING_QUERY } from './pending-approvals.ts';
import { reportBody } from './reports.ts';

const tag = 'Consent';
const PATH = '/partner/consent/pending';
const FINAL: readonly ErrorCode[] = ['NOT_FOUND', 'PENDING_EXPIRED', 'ALREADY_DECIDED'];
const TO_A_PAGE = {
  description: 'For a browser that sent the form: to the app, or back to the page with the error.',
  headers: ['Location'] as const,
};

/** The requests of apps that wait for a person's decision. */
export const PENDING_OPERATIONS: readonly Operation[] = [
  sessionOperation({
    method: 'GET',
    path: PATH,
    operationId: 'listPendingApprovals',
    tag,
    summary: 'List requests of apps',
    query: { ...PAGE_QUERY, ...PENDING_QUERY },
    answers: { 200: { description: 'The requests, newest first.', body: listOf(pendingJson) } },
  }),
  sessionOperation({
    method: 'GET',
    path: `${PATH}/:id`,
    operationId: 'getPendingApproval',
    tag,
    summary: 'Read a request of an app',
    description: 'The first person who reads it claims it.',
    answers: { 200: { description: 'The request.', body: dataOf(pendingJson) } },
    errors: ['NOT_FOUND'],
  }),
  sessionOperation({
    method: 'POST',
    path: `${PATH}/:id/approve`,
    operationId: 'approve',
    tag,
    summary: 'Approve a request',
    description:
      'Without `scopes`, all requested ones are approved. The same approval again gets the same answer.',
    body: { schema: approvalTerms, optional: true, types: [JSON_TYPE, FORM_TYPE] },
    answers: {
      200: { description: 'The grant, and where the app waits for the code.', body: dataOf(approvalJson) },
      303: TO_A_PAGE,
    },
    errors: [...FINAL, 'NO_SCOPES_APPROVED', 'CONFLICT', 'APP_NOT_ACTIVE', 'STEP_UP_REQUIRED'],
  }),
  sessionOperation({
    method: 'POST',
    path: `${PATH}/:id/deny`,
    operationId: 'deny',
    tag,
    summary: 'Deny a request',
    answers: { 200: { description: 'The denial.', body: dataOf(denialJson) }, 303: TO_A_PAGE },
    errors: FINAL,
  }),
  sessionOperation({
    method: 'POST',
    path: `${PATH}/:id/extend`,
    operationId: 'extendPendingApproval',
    tag,
    summary: 'Take more time to decide',
    answers: { 200: { description: 'The new end.', body: dataOf(extensionJson) } },
    errors: [...FINAL, 'CONFLICT'],
  }),
  sessionOperation({
    method: 'POST',
    path: `${PATH}/:id/release`,
    operationId: 'releasePendingApproval',
    tag,
    summary: 'Give a request back, for another account',
    answers: { 200: { description: 'The request is claimed by nobody.', body: dataOf(releasedJson) } },
    errors: FINAL,
  }),
  sessionOperation({
    method: 'POST',
    path: `${PATH}/:id/report`,
    operationId: 'reportPendingApproval',
    tag,
    summary: 'Report the app of a request',
    body: { schema: reportBody },
    answers: { 201: { description: 'The report.', body: dataOf(reportJson) } },
    errors: ['NOT_FOUND'],
  }),
];
