import { dataOf, listOf, PAGE_QUERY, text } from '../openapi/fields.ts';
import type { Operation } from '../openapi/operation.ts';
import { sessionOperation } from '../openapi/operation-kinds.ts';
import { ACCESS_QUERY, GRANT_ACCESS_QUERY, PREVIEW_QUERY, SUMMARY_QUERY } from './accesses.ts';
import { accessDayJson, accessJson, previewJson, sessionJson } from './answers.ts';

const tag = 'Consent';

/** What apps have read, and what they would read. */
export const ACCESS_OPERATIONS: readonly Operation[] = [
  sessionOperation({
    method: 'GET',
    path: '/partner/consent/accesses',
    operationId: 'listAccesses',
    tag,
    summary: 'List accesses',
    query: { ...PAGE_QUERY, ...ACCESS_QUERY },
    answers: { 200: { description: 'The accesses, newest first.', body: listOf(accessJson) } },
    errors: ['NOT_FOUND'],
  }),
  sessionOperation({
    method: 'GET',
    path: '/partner/consent/grants/:id/accesses',
    operationId: 'listGrantAccesses',
    tag,
    summary: 'List the accesses of a grant',
    query: { ...PAGE_QUERY, ...GRANT_ACCESS_QUERY },
    answers: { 200: { description: 'The accesses, newest first.', body: listOf(accessJson) } },
    errors: ['NOT_FOUND'],
  }),
  sessionOperation({
    method: 'GET',
    path: '/partner/consent/accesses/summary',
    operationId: 'summarizeAccesses',
    tag,
    summary: 'Count accesses by day and app',
    description: 'The last 30 days, unless `from` and `to` say otherwise.',
    query: { ...PAGE_QUERY, ...SUMMARY_QUERY },
    answers: { 200: { description: 'By day and app, newest day first.', body: listOf(accessDayJson) } },
    errors: ['NOT_FOUND'],
  }),
  sessionOperation({
    method: 'GET',
    path: '/partner/consent/accesses.csv',
    operationId: 'exportAccesses',
    tag,
    summary: 'Download accesses',
    query: ACCESS_QUERY,
    answers: {
      200: {
        description: 'All accesses as a file (RFC 4180), newest first.',
        body: text,
        type: 'text/csv',
        headers: ['Content-Disposition'],
      },
    },
    errors: ['NOT_FOUND'],
  }),
  sessionOperation({
    method: 'GET',
    path: '/partner/consent/preview',
    operationId: 'previewData',
    tag,
    summary: 'See own data as an app with one scope would',
    query: PREVIEW_QUERY,
    requiredQuery: ['scope'],
    answers: { 200: { description: 'Newest items and a trend.', body: dataOf(previewJson) } },
    errors: ['STEP_UP_REQUIRED'],
  }),
  sessionOperation({
    method: 'GET',
    path: '/partner/session',
    operationId: 'getSession',
    tag: 'Session',
    summary: 'Read who is signed in',
    answers: { 200: { description: 'The person.', body: dataOf(sessionJson) } },
  }),
];
