import { once } from 'node:events';
import { type ClientRequest, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Verdict } from '@phds/contracts/phds/consent/v1/access_pb';
import { unavailable } from '@phds/service-kit/errors';
import express from 'express';
import { exchangeOf } from '../src/http/exchange.ts';
import type { Gateway } from '../src/http/gateway.ts';
import { createAccessExport } from '../src/http/partner/access-export.ts';
import type { SignedIn } from '../src/http/session.ts';
import { startTestGateway, type TestGateway } from './test-gateway.ts';

const PATH = '/partner/consent/accesses.csv';

let gateway: TestGateway;
let headers: { authorization: string };
beforeAll(async () => {
  gateway = await startTestGateway();
  headers = {
    authorization: `Bearer ${await gateway.sessions.issueSession('ada', { expiresInSeconds: 86_400 })}`,
  };
});
afterAll(async () => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  gateway.backends.calls.length = 0;
});

function access(id: string, changes: object = {}) {
  return {
    id,
    at: timestampFromDate(new Date('2026-03-01T10:00:00.5Z')),
    clientId: 'app_1',
    appName: 'One',
    grantId: 'grt_1',
    scope: 'read:mood',
    endpoint: '/api/v1/mood',
    from: '2026-01-01',
    to: '',
    page: 2,
    recordCount: 7,
    requestId: 'req_1',
    verdict: Verdict.RELEASED,
    ...changes,
  };
}

const placesAsked = () => gateway.backends.callsOf('exportAccesses').map(({ request }) => request['afterId']);

test('the access history export contains every piece, with values that a spreadsheet would take for formulas escaped', async () => {
  const pieces: Record<string, object[]> = {
    '': [access('acc_3'), access('acc_2', { appName: '=HYPERLINK("http://x")' })],
    acc_2: [access('acc_1', { verdict: Verdict.GRANT_REVOKED })],
  };
  gateway.backends.answer({ exportAccesses: ({ afterId }) => ({ accesses: pieces[afterId] ?? [] }) });
  const response = await gateway.fetch(
    `${PATH}?clientId=app_1&scope=read:mood&from=2026-01-01&grantId=grt_1`,
    { headers },
  );
  const rest = 'grt_1,read:mood,/api/v1/mood,2026-01-01,,2,7,req_1';
  const at = '2026-03-01T10:00:00.500Z';
  expect(await response.text()).toBe(
    'id,at,app,appName,grantId,scope,endpoint,from,to,page,recordCount,requestId,outcome,reason\r\n' +
      `acc_3,${at},app_1,One,${rest},released,\r\n` +
      `acc_2,${at},app_1,"'=HYPERLINK(""http://x"")",${rest},released,\r\n` +
      `acc_1,${at},app_1,One,${rest},refused,GRANT_REVOKED\r\n`,
  );
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'text/csv; charset=utf-8; header=present',
    'content-disposition': 'attachment; filename="access-history.csv"',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  expect(placesAsked()).toEqual(['', 'acc_2', 'acc_1']);
  expect(gateway.backends.callsOf('exportAccesses')[0]?.request).toMatchObject({
    clientId: 'app_1',
    scope: 'read:mood',
    grantId: 'grt_1',
  });
});

test('an export requires a session, rejects a page parameter, and fails before it starts when consent is unavailable', async () => {
  expect((await gateway.fetch(PATH)).status).toBe(401);
  const paged = await gateway.fetch(`${PATH}?page=2`, { headers });
  const { errors } = (await paged.json()) as { errors: { parameter: string }[] };
  expect([paged.status, errors[0]?.parameter]).toEqual([400, 'page']);
  gateway.backends.answer({
    exportAccesses: () => {
      throw unavailable(new Error('away'));
    },
  });
  const refused = await gateway.fetch(PATH, { headers });
  expect([refused.status, refused.headers.get('content-disposition')]).toEqual([503, null]);
});

test('an export that is cut off is never mistaken for a complete file', async () => {
  gateway.backends.answer({
    exportAccesses: ({ afterId }) => {
      if (afterId !== '') throw unavailable(new Error('away'));
      return { accesses: [access('acc_1')] };
    },
  });
  const response = await gateway.fetch(PATH, { headers });
  expect(response.status).toBe(200);
  await expect(response.text()).rejects.toThrow();
});

test('a client that disconnects cancels the call for the next piece, and no further piece is requested', async () => {
  const second = Promise.withResolvers<AbortSignal>();
  gateway.backends.answer({
    exportAccesses: ({ afterId }, { signal }) => {
      if (afterId === '') return { accesses: [access('acc_1')] };
      second.resolve(signal);
      return new Promise(() => undefined);
    },
  });
  const request: ClientRequest = get(gateway.url + PATH, { headers });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.on('error', () => undefined).resume();
  const signal = await second.promise;
  const cancelled = signal.aborted ? Promise.resolve() : once(signal, 'abort');
  request.destroy();
  await cancelled;
  expect(placesAsked()).toEqual(['', 'acc_1']);
});

test('nothing is read or logged for a client that disconnects before its export begins', async () => {
  const done: string[] = [];
  const accesses = {
    exportAccesses: async () => ({ accesses: done.push('read') > 1 ? [] : [access('acc_1')] }),
  };
  const log = { warn: () => done.push('warning') };
  const exportAccesses = createAccessExport({ backends: { accesses }, log } as unknown as Gateway);
  const arrived = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const app = express().get(PATH, async (request, response) => {
    arrived.resolve();
    // As if the client disconnected during session and limit checks.
    await once(response, 'close');
    const exchange = exchangeOf(request, response);
    exchange.session = { userId: 'ada', jwt: 'jwt', mayChange: true } as SignedIn;
    ended.resolve(exportAccesses(exchange));
  });
  await using server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const request = get({ port: (server.address() as AddressInfo).port, path: PATH }).on(
    'error',
    () => undefined,
  );
  await arrived.promise;
  request.destroy();
  await ended.promise;
  expect(done).toEqual([]);
});

test('a client that does not read pauses the export instead of filling memory', async () => {
  const long = 'x'.repeat(100_000);
  gateway.backends.answer({
    exportAccesses: ({ afterId }) => ({
      accesses: [access(`acc_${placesAsked().length}`, { appName: long + afterId })],
    }),
  });
  const request = get(gateway.url + PATH, { headers });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  // Only what fits into the socket buffers still moves.
  response.pause();
  let before = -1;
  while (before !== placesAsked().length) {
    before = placesAsked().length;
    await gateway.fetch('/livez').then((alive) => alive.text());
    for (let turn = 0; turn < 200; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }
  expect(before).toBeLessThan(300);
  request.destroy();
});

test('a person may run two exports at once; a third waits for one to end, and other people are not delayed', async () => {
  const next = Promise.withResolvers<{ accesses: object[] }>();
  gateway.backends.answer({
    exportAccesses: ({ afterId }) => (afterId === '' ? { accesses: [access('acc_1')] } : next.promise),
  });
  const begun = await Promise.all([gateway.fetch(PATH, { headers }), gateway.fetch(PATH, { headers })]);
  expect(begun.map(({ status }) => status)).toEqual([200, 200]);
  const third = await gateway.fetch(PATH, { headers });
  expect([third.status, third.headers.get('retry-after')]).toEqual([429, '5']);
  const bob = await gateway.sessions.issueSession('bob', { expiresInSeconds: 86_400 });
  const other = await gateway.fetch(PATH, { headers: { authorization: `Bearer ${bob}` } });
  expect(other.status).toBe(200);
  next.resolve({ accesses: [] });
  await Promise.all([...begun, other].map((response) => response.text()));
  expect((await gateway.fetch(PATH, { headers })).status).toBe(200);
});
