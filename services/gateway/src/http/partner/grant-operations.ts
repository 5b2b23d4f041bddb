import { dataOf, listOf, PAGE_QUERY } from '../openapi/fields.ts';
import type { Operation } from '../openapi/operation.ts';
import { sessionOperation } from '../openapi/operation-kinds.ts';
import {
  connectedAppJson,
  deletionRequestJson,
  grantJson,
  receiptJson,
  reportJson,
  revocationJson,
  revokedAllJson,
} from './answers.ts';
import { GRANTS_QUERY, narrowingBody } from './grants.ts';
import { reportBody } from './reports.ts';

const tag = 'Consent';
const PATH = '/partner/consent/grants';

/** What a person shares with apps. */
export const GRANT_OPERATIONS: readonly Operation[] = [
  sessionOperation({
    method: 'GET',
    path: PATH,
    operationId: 'listGrants',
    tag,
    summary: 'List grants',
    query: { ...PAGE_QUERY, ...GRANTS_QUERY },
    answers: { 200: { description: 'The grants, newest first.', body: listOf(grantJson) } },
  }),
  sessionOperation({
    method: 'GET',
    path: `${PATH}/:id`,
    operationId: 'getGrant',
    tag,
    summary: 'Read a grant',
    answers: { 200: { description: 'The grant.', body: dataOf(grantJson) } },
    errors: ['NOT_FOUND'],
  }),
  sessionOperation({
    method: 'PATCH',
    path: `${PATH}/:id`,
    operationId: 'narrowGrant',
    tag,
    summary: 'Narrow a grant',
    description:
      'Withdraws scopes, shortens the life, or moves the first day. Takes effect everywhere before it answers.',
    body: { schema: narrowingBody },
    answers: { 200: { description: 'The narrowed grant.', body: dataOf(grantJson) } },
    errors: ['NOT_FOUND', 'CONFLICT'],
  }),
  sessionOperation({
    method: 'DELETE',
    path: `${PATH}/:id`,
    operationId: 'revokeGrant',
    tag,
    summary: 'Revoke a grant',
    description: 'Takes effect everywhere before it answers.',
    answers: { 200: { description: 'The revocation.', body: dataOf(revocationJson) } },
    errors: ['NOT_FOUND'],
  }),
  sessionOperation({
    method: 'POST',
    path: `${PATH}/revoke-all`,
    operationId: 'revokeAllGrants',
    tag,
    summary: 'Revoke every grant',
    description: 'Takes effect everywhere before it answers.',
    answers: { 200: { description: 'How many were revoked.', body: dataOf(revokedAllJson) } },
  }),
  sessionOperation({
    method: 'POST',
    path: `${PATH}/:id/deletion-request`,
    operationId: 'requestDeletion',
    tag,
    summary: 'Ask the app to delete what it has read',
    answers: { 200: { description: 'When the app was asked.', body: dataOf(deletionRequestJson) } },
    errors: ['NOT_FOUND'],
  }),
  sessionOperation({
    method: 'POST',
    path: `${PATH}/:id/report`,
    operationId: 'reportGrant',
    tag,
    summary: 'Report the app of a grant',
    body: { schema: reportBody },
    answers: { 201: { description: 'The report.', body: dataOf(reportJson) } },
    errors: ['NOT_FOUND'],
  }),
  sessionOperation({
    method: 'GET',
    path: `${PATH}/:id/receipt`,
    operationId: 'getReceipt',
    tag,
    summary: 'Get the receipt of a consent',
    answers: { 200: { description: 'The signed receipt.', body: dataOf(receiptJson) } },
    errors: ['NOT_FOUND'],
  }),
  sessionOperation({
    method: 'GET',
    path: '/partner/consent/apps',
    operationId: 'listConnectedApps',
    tag,
    summary: 'List apps with a present or past grant',
    query: PAGE_QUERY,
    answers: { 200: { description: 'The apps.', body: listOf(connectedAppJson) } },
  }),
];
