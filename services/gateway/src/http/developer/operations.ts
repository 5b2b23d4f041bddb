import { z } from 'zod';
import { DAY_RANGE_QUERY } from '../day-range.ts';
import { dataOf, listOf, PAGE_QUERY } from '../openapi/fields.ts';
import type { Operation } from '../openapi/operation.ts';
import { sessionOperation } from '../openapi/operation-kinds.ts';
import { changeBody, registrationBody, rotationBody, statusBody } from './app-body.ts';
import { appJson, changedStatusJson, newAppJson, rotatedSecretJson } from './app-json.ts';
import { REQUESTS_QUERY, requestJson } from './requests.ts';
import { triggerBody, triggeredJson } from './sandbox.ts';
import { usageJson } from './usage.ts';
import { WEBHOOK_OPERATIONS } from './webhook-operations.ts';

const tag = 'Apps';

/** Everything under `/developer`. */
export const DEVELOPER_OPERATIONS: readonly Operation[] = [
  sessionOperation({
    method: 'GET',
    path: '/developer/apps',
    operationId: 'listApps',
    tag,
    summary: 'List own apps',
    query: PAGE_QUERY,
    answers: {
      200: {
        description: 'The apps, newest first, and whether you may register others.',
        body: listOf(appJson).extend({ mayRegister: z.boolean() }),
      },
    },
  }),
  sessionOperation({
    method: 'POST',
    path: '/developer/apps',
    operationId: 'registerApp',
    tag,
    summary: 'Register an app',
    description:
      'Where live apps need an approval, a live app is `suspended` with a `lock` of the kind `approval` until an operator approves it.',
    body: { schema: registrationBody },
    answers: {
      201: { description: 'The app with its secret.', body: dataOf(newAppJson), headers: ['Location'] },
    },
    errors: ['CONFLICT', 'NOT_A_DEVELOPER'],
  }),
  sessionOperation({
    method: 'GET',
    path: '/developer/apps/:clientId',
    operationId: 'getApp',
    tag,
    summary: 'Read an own app',
    answers: { 200: { description: 'The app.', body: dataOf(appJson) } },
    errors: ['NOT_FOUND'],
  }),
  sessionOperation({
    method: 'PATCH',
    path: '/developer/apps/:clientId',
    operationId: 'changeApp',
    tag,
    summary: 'Change an own app',
    description:
      'Where live apps need an approval, suspend a live app before you change anything but `requirePkce`: it then waits for another approval.',
    body: { schema: changeBody },
    answers: { 200: { description: 'The changed app.', body: dataOf(appJson) } },
    errors: ['NOT_FOUND'],
  }),
  sessionOperation({
    method: 'POST',
    path: '/developer/apps/:clientId/rotate-secret',
    operationId: 'rotateSecret',
    tag,
    summary: 'Replace the secret',
    description:
      'The old secret stops working at once, or after `overlapSeconds`; the one before it stops in any case. Issued tokens live on.',
    body: { schema: rotationBody, optional: true },
    answers: { 200: { description: 'The new secret.', body: dataOf(rotatedSecretJson) } },
    errors: ['NOT_FOUND', 'STEP_UP_REQUIRED', 'APP_NOT_ACTIVE'],
  }),
  sessionOperation({
    method: 'POST',
    path: '/developer/apps/:clientId/status',
    operationId: 'setAppStatus',
    tag,
    summary: 'Suspend, revoke or reactivate an app',
    description:
      'Takes effect everywhere before it answers. `revoked` also ends all grants and tokens of the app. `active` is a CONFLICT while ' +
      'an operator has locked the app.',
    body: { schema: statusBody },
    answers: { 200: { description: 'The status.', body: dataOf(changedStatusJson) } },
    errors: ['NOT_FOUND', 'CONFLICT'],
  }),
  sessionOperation({
    method: 'GET',
    path: '/developer/apps/:clientId/usage',
    operationId: 'listAppUsage',
    tag,
    summary: 'Count accesses and refused requests',
    query: { ...PAGE_QUERY, ...DAY_RANGE_QUERY },
    answers: {
      200: { description: 'By day and endpoint, newest day first.', body: listOf(usageJson) },
    },
    errors: ['NOT_FOUND'],
  }),
  sessionOperation({
    method: 'GET',
    path: '/developer/apps/:clientId/requests',
    operationId: 'listRequests',
    tag,
    summary: 'List the latest requests of an app',
    description:
      'At most 200, of the last 24 hours. `complete` is false when the requests at other gateways are missing.',
    query: { ...PAGE_QUERY, ...REQUESTS_QUERY },
    answers: {
      200: {
        description: 'The requests, newest first.',
        body: listOf(requestJson).extend({ complete: z.boolean() }),
      },
    },
    errors: ['NOT_FOUND'],
  }),
  sessionOperation({
    method: 'POST',
    path: '/developer/apps/:clientId/sandbox/triggers',
    operationId: 'pullSandboxTrigger',
    tag,
    summary: 'Let something happen to a sandbox person',
    description:
      'For a live grant of an own sandbox app. A reading arrives, is corrected or deleted in the first category that the grant opens; ' +
      'or the grant loses a scope, is revoked or expires.',
    body: { schema: triggerBody },
    answers: { 200: { description: 'What happened.', body: dataOf(triggeredJson) } },
    errors: ['NOT_FOUND', 'CONFLICT'],
  }),
  ...WEBHOOK_OPERATIONS,
];
