import { describe, expect, test } from '@jest/globals';
import { AnswerContract, type ReceivedAnswer } from '../src/answer-contract.ts';

const LIMIT = { 'ratelimit-policy': '"user";q=60;w=60', ratelimit: '"user";r=59;t=60' };
const ERROR = {
  'x-request-id': 'req_1',
  'cache-control': 'no-store',
  'content-type': 'application/problem+json',
};

const problem = (code: string, status: number, members: object = {}) => ({
  type: `/problems/${code.toLowerCase().replaceAll('_', '-')}`,
  title: 'Title',
  status,
  code,
  detail: 'Detail.',
  requestId: 'req_1',
  ...members,
});

function answer(change: {
  readonly method?: string;
  readonly path?: string;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
}): ReceivedAnswer {
  const { method = 'GET', path = '/partner/session', status = 200, headers = {}, body = SESSION } = change;
  const fields = {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    ...LIMIT,
    ...headers,
  };
  const present = Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined);
  return {
    method,
    url: new URL(path, 'http://localhost'),
    status,
    headers: new Headers(present),
    text: body === '' ? '' : JSON.stringify(body),
  };
}

const SESSION = { data: { userId: 'ada', name: null, expiresAt: '2026-03-01T10:00:00.000Z' } };

const contract = await AnswerContract.open();

describe('an answer as the document describes it has no faults', () => {
  test.each<[string, string, Parameters<typeof answer>[0]]>([
    [
      'a member that is not described',
      'additional properties',
      { body: { data: { ...SESSION.data, email: 'ada@example.com' } } },
    ],
    ['a missing member', 'required property', { body: { data: { userId: 'ada', name: null } } }],
    ['another type', 'must be', { body: { data: { ...SESSION.data, name: 7 } } }],
    ['a date that is none', 'format', { body: { data: { ...SESSION.data, expiresAt: 'tomorrow' } } }],
    ['a missing header field', 'RateLimit is missing', { headers: { ratelimit: undefined } }],
    ['a malformed header field', 'RateLimit must match', { headers: { ratelimit: 'many' } }],
    [
      'a header field that is not described',
      'x-user-id is not documented',
      { headers: { 'x-user-id': 'ada' } },
    ],
    ['another media type', 'media type text/html', { headers: { 'content-type': 'text/html' } }],
    [
      'a status that is not described',
      'status is not documented',
      { status: 409, headers: ERROR, body: problem('CONFLICT', 409) },
    ],
    [
      'a code of another operation',
      'must be equal to constant',
      {
        path: '/developer/apps',
        status: 400,
        headers: ERROR,
        body: problem('INVALID_SCOPE', 400, { errors: [] }),
      },
    ],
    ['a success without an operation', 'status is not documented', { path: '/partner/nothing' }],
  ])('but %s is a fault', (_, fault, change) => {
    expect(contract.findFaults(answer(change)).join('\n')).toContain(fault);
  });
});
