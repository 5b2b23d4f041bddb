import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { findFault, sendMalformedRequests } from '../src/hostile/hostile-clients.ts';

const CREDENTIALS = { clientId: 'app_1', clientSecret: 'cs', session: 'session', accessToken: 'at' };
const NONE = { status: 0, head: '', body: '', whole: true, late: false, milliseconds: 0 };

describe('checking a response', () => {
  test.each([
    ['a 500', { status: 500 }, '500 for a malformed request'],
    ['a 502', { status: 502 }, '502 for a malformed request'],
    ['a 503 that does not say when to try again', { status: 503 }, '503 without Retry-After'],
    ['no answer', { late: true }, 'hang: a malformed request was not answered'],
    ['a long error', { status: 400, body: 'x'.repeat(20_000) }, 'an error of 20000 bytes'],
    [
      'a stack trace',
      { status: 400, body: 'Error\n    at f (app.ts:1:1)' },
      expect.stringContaining('internals'),
    ],
  ])('finds %s', (_what, answer, fault) => {
    expect(findFault({ ...NONE, ...answer })).toEqual(fault);
  });

  test.each([
    ['a refusal', { status: 400, body: '{"code":"INVALID_REQUEST"}' }],
    ['a closed connection', { status: 0 }],
    ['an honest 503', { status: 503, head: 'HTTP/1.1 503 x\r\nRetry-After: 1' }],
  ])('accepts %s', (_what, answer) => {
    expect(findFault({ ...NONE, ...answer })).toBeNull();
  });
});

test('a server that fails at one of many requests is detected, and the report shows the request without its secrets', async () => {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.statusCode = request.url?.includes('__proto__') ? 500 : 400;
      response.setHeader('Content-Length', 0).end();
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const gatewayUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const run = {
    surface: 'partner',
    gatewayUrls: [gatewayUrl],
    credentials: CREDENTIALS,
    requests: 2_000,
  } as const;
  const { statuses, violations } = await sendMalformedRequests({ ...run, seed: 1 });
  server.close();
  server.closeAllConnections();
  expect(Object.values(statuses).reduce((sum, count) => sum + count, 0)).toBe(2_000);
  expect(violations).toEqual([expect.stringMatching(/^partner: \d+ times 500 .*__proto__/)]);
  expect(violations[0]).not.toContain('Bearer session');
});
