import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { findFault, sendMalformedRequests } from '../src/hostile/hostile-clients.ts';
import { createRandom, makeMalformedRequest, SURFACES } from '../src/hostile/malformed-requests.ts';

const CREDENTIALS = { clientId: 'app_1', clientSecret: 'cs', session: 'session', accessToken: 'at' };
const NONE = { status: 0, head: '', body: '', whole: true, late: false, milliseconds: 0 };

describe.each(SURFACES)('malformed requests to the %s surface', (surface) => {
  const make = (seed: number) => {
    const random = createRandom(seed);
    return Array.from({ length: 500 }, () => makeMalformedRequest(surface, random, CREDENTIALS));
  };

  test('are equal for the same seed, and differ from each other', () => {
    expect(make(1)).toEqual(make(1));
    expect(make(2)).not.toEqual(make(1));
    expect(new Set(make(1)).size).toBeGreaterThan(surface === 'http' ? 20 : 400);
  });

  test('announce the length of their body', () => {
    if (surface === 'http') return expect(make(1).join('')).toContain('Content-Length: -5');
    for (const request of make(1)) {
      const [head = '', body = ''] = [
        request.split('\r\n\r\n')[0],
        request.slice(request.indexOf('\r\n\r\n') + 4),
      ];
      expect(body.length).toBe(Number(/\r\nContent-Length: (\d+)/.exec(head)?.[1] ?? 0));
    }
  });
});

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
