import { once } from 'node:events';
import { type ClientRequest, get, type IncomingMessage } from 'node:http';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { Verdict } from '@phds/contracts/phds/consent/v1/access_pb';
import { unavailable } from '@phds/service-kit/errors';
import { bearer, shareCaller, shareTestGateway, throwing } from './test-gateway.ts';

const gateway = shareTestGateway();
const { call, session } = shareCaller(gateway, 'ada');

describe('access days', () => {
  const URL = '/partner/consent/accesses/summary';

  beforeEach(() => {
    const scopes = [{ scope: 'read:mood', released: 7, refused: 1 }];
    const day = {
      date: '2026-03-01',
      clientId: 'app_1',
      appName: 'One',
      released: 7,
      refused: 1,
      scopes,
      attempts: 3,
    };
    gateway.backends.answer({ listAccessDays: () => ({ days: [day, { ...day, date: '2026-02-28' }] }) });
  });

  const get = (query: string) => call('GET', `${URL}?${query}`);

  const asked = () => gateway.backends.callsOf('listAccessDays').map(({ request }) => request);

  test('a person lists how often each app read what, by day, in pages', async () => {
    const { body } = await get('from=2026-02-01&to=2026-03-01&clientId=app_1&pageSize=1');
    expect(body.data).toEqual([
      {
        date: '2026-03-01',
        app: { clientId: 'app_1', name: 'One' },
        released: 7,
        refused: 1,
        scopes: [{ scope: 'read:mood', released: 7, refused: 1 }],
        attempts: 3,
      },
    ]);
    expect(body.pagination).toMatchObject({ page: 1, pageSize: 1, total: 2 });
    const filter = { from: '2026-02-01', to: '2026-03-01', clientId: 'app_1', grantId: '', scope: '' };
    expect(asked()).toMatchObject([{ ...filter, timeZone: '' }]);
  });

  test.each([
    ['from=2026-03-01T00:00:00Z', 'from'],
    ['from=2026-03-02&to=2026-03-01', 'from'],
    ['scope=read:all', 'scope'],
    ['timeZone=%2B01:00', 'timeZone'],
    ['timeZone=Mars/Olympus', 'timeZone'],
    ['timeZone=', 'timeZone'],
    ['day=1', 'day'],
  ])('%s reports a violation of %s', async (query, parameter) => {
    const { status, body } = await get(query);
    expect([status, body.errors]).toMatchObject([400, [{ parameter }]]);
  });
});

describe('the export of accesses', () => {
  const PATH = '/partner/consent/accesses.csv';

  let headers: Record<string, string>;
  beforeEach(() => {
    headers = bearer(session());
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

  const placesAsked = () => gateway.backends.callsOf('listAccesses').map(({ request }) => request['afterId']);

  test('the access history export contains every piece, with values that a spreadsheet would take for formulas escaped', async () => {
    const pieces: Record<string, object[]> = {
      '': [access('acc_3'), access('acc_2', { appName: '=HYPERLINK("http://x")' })],
      acc_2: [access('acc_1', { verdict: Verdict.GRANT_REVOKED })],
    };
    gateway.backends.answer({ listAccesses: ({ afterId }) => ({ accesses: pieces[afterId] ?? [] }) });
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
    expect(gateway.backends.callsOf('listAccesses')[0]?.request).toMatchObject({
      inPieces: true,
      clientId: 'app_1',
      scope: 'read:mood',
      grantId: 'grt_1',
    });
  });

  test('an export fails before it starts when consent is unavailable', async () => {
    gateway.backends.answer({ listAccesses: throwing(unavailable(new Error('away'))) });
    const refused = await gateway.fetch(PATH, { headers });
    expect([refused.status, refused.headers.get('content-disposition')]).toEqual([503, null]);
  });

  test('an export that is cut off is never mistaken for a complete file', async () => {
    gateway.backends.answer({
      listAccesses: ({ afterId }) => {
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
      listAccesses: ({ afterId }, { signal }) => {
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

  test('a client that does not read pauses the export instead of filling memory', async () => {
    const long = 'x'.repeat(100_000);
    gateway.backends.answer({
      listAccesses: ({ afterId }) => ({
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
      listAccesses: ({ afterId }) => (afterId === '' ? { accesses: [access('acc_1')] } : next.promise),
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
});
