import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { unavailable } from '@phds/service-kit/errors';
import { readZip } from '@phds/test-kit/zip-contents';
import { shareTestGateway, throwing } from './test-gateway.ts';

const gateway = shareTestGateway({ LIMITS: 'own-data=100' });
const PATH = '/partner/consent/own-data.zip';
let headers: Record<string, string>;
beforeAll(async () => {
  headers = {
    authorization: `Bearer ${await gateway.sessions.issueSession('ada', { expiresInSeconds: 3_600 })}`,
  };
});

const itemsOf = (...items: object[]) => ({ items: Buffer.from(JSON.stringify(items)) });
const NOTHING = itemsOf();
const beat = (value: number, timestamp: string) => ({
  type: 'Heart Rate',
  value,
  unit: '/min',
  timestamp,
  source: '=1+1',
});
const at = timestampFromDate(new Date('2026-03-01T10:00:00Z'));
const grant = {
  id: 'grt_1',
  app: { clientId: 'app_1', name: 'One' },
  scopes: ['read:mood'],
  status: 1,
  grantedAt: at,
  expiresAt: at,
};

/** Two pages of heart rates, a grant and its receipt. */
const DATA = {
  readOwn: ({ kind, beforeMs }: { kind: string; beforeMs?: bigint | undefined }) => {
    if (kind !== 'heart-rate') return NOTHING;
    return beforeMs === undefined
      ? { ...itemsOf(beat(61, '2026-03-02T10:00:00.000Z')), nextBeforeMs: 5n }
      : itemsOf(beat(60, '2026-03-01T10:00:00.000Z'));
  },
  listGrants: () => ({ grants: [grant], total: 1 }),
  getReceipt: () => ({ receipt: 'a.b.c' }),
  beginDownload: () => ({ number: 7n }),
  listOwnActs: () => ({
    acts: [{ number: 7n, at, rpc: 'phds.consent.v1.OperatorActService/BeginDownload' }],
    total: 1,
  }),
};
beforeEach(() => gateway.backends.answer(DATA));

const download = (path = PATH, more = {}) =>
  gateway.fetchUnchecked(path, { headers: { ...headers, ...more } });

describe('the download of all of one’s data', () => {
  test('has a JSON and a CSV file for each type with data, connections, receipts, the history, acts of operators, and an index', async () => {
    const response = await gateway.fetch(`${PATH}?lang=de`, { headers });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/zip',
      'content-disposition': 'attachment; filename="my-health-data.zip"',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    const files = await readZip(await response.bytes());
    expect([...files.keys()]).toEqual([
      'readings/heart-rate.json',
      'readings/heart-rate.csv',
      'connections.json',
      'connections.csv',
      'receipts.json',
      'access-history.csv',
      'operator-acts.json',
      'index.html',
    ]);
    expect(JSON.parse(files.get('readings/heart-rate.json') ?? '')).toMatchObject([
      { value: 61 },
      { value: 60 },
    ]);
    expect(files.get('readings/heart-rate.csv')).toBe(
      "\uFEFFtype,value,unit,timestamp,source\r\nHeart Rate,61,/min,2026-03-02T10:00:00.000Z,'=1+1\r\n" +
        "Heart Rate,60,/min,2026-03-01T10:00:00.000Z,'=1+1\r\n",
    );
    for (const name of ['connections.csv', 'access-history.csv']) expect(files.get(name)).toMatch(/^\uFEFF/);
    expect(JSON.parse(files.get('connections.json') ?? '')).toMatchObject([
      { id: 'grt_1', scopes: ['read:mood'] },
    ]);
    expect(JSON.parse(files.get('receipts.json') ?? '')).toEqual([{ grantId: 'grt_1', receipt: 'a.b.c' }]);
    expect(JSON.parse(files.get('operator-acts.json') ?? '')).toMatchObject([
      { id: '7', act: 'own_data_downloaded' },
    ]);
    expect(files.get('index.html')).toContain(
      '<td>Herz: Heart Rate</td><td>2</td><td>2026-03-01 – 2026-03-02</td>',
    );
  });

  test('says from when the dated of its conditions are', async () => {
    const conditions = itemsOf(
      { name: 'Asthma', sinceDate: '2019-05' },
      { name: 'Hay fever', sinceDate: null },
    );
    const readOwn = ({ kind }: { kind: string }) => (kind === 'condition' ? conditions : NOTHING);
    gateway.backends.answer({ ...DATA, readOwn });
    const index = (await readZip(await (await download()).bytes())).get('index.html');
    expect(index).toContain('<td>2</td><td>2019-05 – 2019-05</td>');
  });

  test('is in the language of the browser unless it asks for another', async () => {
    const titleOf = async (path: string, language: string) => {
      const response = await download(path, { 'accept-language': language });
      return (await readZip(await response.bytes())).get('index.html')?.match(/<h1>(.*)<\/h1>/)?.[1];
    };
    expect(await titleOf(PATH, 'de-AT,en;q=0.5')).toBe('Meine Gesundheitsdaten');
    expect(await titleOf(`${PATH}?lang=en`, 'de')).toBe('My health data');
    expect((await download(`${PATH}?lang=fr`)).status).toBe(400);
  });

  test('is recorded before anything is read, and without the record nothing is sent', async () => {
    await (await download()).bytes();
    const calls = gateway.backends.calls.map(({ rpc }) => rpc).filter((rpc) => rpc !== 'checkSession');
    expect(calls[0]).toBe('beginDownload');
    expect(calls.filter((rpc) => rpc === 'beginDownload')).toHaveLength(1);
    gateway.backends.calls.length = 0;
    gateway.backends.answer({ ...DATA, beginDownload: throwing(unavailable(new Error('away'))) });
    const refused = await gateway.fetch(PATH, { headers });
    expect([refused.status, refused.headers.get('content-disposition')]).toEqual([503, null]);
    expect(gateway.backends.callsOf('readOwn')).toEqual([]);
  });

  test('reads each type once for each of its two files', async () => {
    await readZip(await (await download()).bytes());
    const reads = gateway.backends.callsOf('readOwn').map(({ request }) => request as { kind: string });
    expect(reads.filter(({ kind }) => kind === 'heart-rate')).toHaveLength(2 * 2);
    expect(reads.filter(({ kind }) => kind === 'symptom')).toHaveLength(1);
  });

  test('continues when a service was away for a few calls', async () => {
    let [reads, lists] = [0, 0];
    const failFirst = (call: number) => {
      if (call < 3) throw unavailable(new Error('away'));
    };
    gateway.backends.answer({
      ...DATA,
      readOwn: (request) => {
        failFirst(reads++);
        return DATA.readOwn(request);
      },
      listAccesses: () => {
        failFirst(lists++);
        return { accesses: [] };
      },
    });
    const response = await download();
    expect((await readZip(await response.bytes())).has('index.html')).toBe(true);
    expect(gateway.pauses.slice(-6)).toEqual([500, 2_000, 5_000, 500, 2_000, 5_000]);
  });

  test('does not repeat a read for a session that has ended', async () => {
    let reads = 0;
    gateway.backends.answer({
      ...DATA,
      readOwn: () => {
        reads += 1;
        gateway.clock.advance(61_000);
        throw unavailable(new Error('away'));
      },
    });
    const session = await gateway.sessions.issueSession('bob', { expiresInSeconds: 60 });
    const refused = await gateway.fetch(PATH, { headers: { authorization: `Bearer ${session}` } });
    expect([refused.status, reads]).toEqual([401, 1]);
  });

  test('fails with a status when health-data does not answer at all', async () => {
    gateway.backends.answer({ ...DATA, readOwn: throwing(unavailable(new Error('away'))) });
    const refused = await gateway.fetch(PATH, { headers });
    expect([refused.status, refused.headers.get('content-disposition')]).toEqual([503, null]);
  });

  test('breaks off when a further page cannot be read', async () => {
    gateway.backends.answer({
      ...DATA,
      readOwn: (request) => {
        if (request.beforeMs !== undefined) throw unavailable(new Error('away'));
        return DATA.readOwn(request);
      },
    });
    await expect((await download()).bytes()).rejects.toThrow();
  });

  test.each(['listGrants', 'getReceipt', 'listAccesses', 'listOwnActs'])(
    'breaks off without a central directory when %s fails',
    async (rpc) => {
      gateway.backends.answer({ ...DATA, [rpc]: throwing(unavailable(new Error('away'))) });
      const response = await download();
      expect(response.status).toBe(200);
      await expect(response.bytes()).rejects.toThrow();
      // The next one may begin.
      gateway.backends.answer(DATA);
      await readZip(await (await download()).bytes());
    },
  );

  test('breaks off when the session ends', async () => {
    let hasEnded = false;
    const readAfterwards: string[] = [];
    gateway.backends.answer({
      ...DATA,
      readOwn: (request) => {
        if (hasEnded) readAfterwards.push(request.kind);
        if (request.beforeMs !== undefined) {
          gateway.clock.advance(61_000);
          hasEnded = true;
        }
        return DATA.readOwn(request);
      },
    });
    const session = await gateway.sessions.issueSession('bob', { expiresInSeconds: 60 });
    const response = await gateway.fetchUnchecked(PATH, { headers: { authorization: `Bearer ${session}` } });
    expect(response.status).toBe(200);
    await expect(response.bytes()).rejects.toThrow();
    expect(readAfterwards).toEqual([]);
  });

  test('breaks off when the person is erased meanwhile', async () => {
    gateway.backends.answer({ ...DATA, listOwnActs: () => ({ acts: [], total: 0 }) });
    await expect((await download()).bytes()).rejects.toThrow();
    const another = { number: 9n, at, rpc: 'phds.consent.v1.OperatorActService/BeginDownload' };
    gateway.backends.answer({ ...DATA, listOwnActs: () => ({ acts: [another], total: 1 }) });
    await expect((await download()).bytes()).rejects.toThrow();
  });

  test('runs once at a time for a person', async () => {
    const next = Promise.withResolvers<object>();
    gateway.backends.answer({ ...DATA, listGrants: () => next.promise });
    const first = await download();
    const second = await download();
    expect([second.status, second.headers.get('retry-after')]).toEqual([429, '60']);
    const bob = await gateway.sessions.issueSession('carol', { expiresInSeconds: 3_600 });
    const other = await gateway.fetchUnchecked(PATH, { headers: { authorization: `Bearer ${bob}` } });
    expect(other.status).toBe(200);
    next.resolve({ grants: [], total: 0 });
    await Promise.all([first, other].map(async (response) => readZip(await response.bytes())));
    await readZip(await (await download()).bytes());
  });

  test('runs eight times at once in a process, for all people together', async () => {
    const next = Promise.withResolvers<object>();
    gateway.backends.answer({ ...DATA, listGrants: () => next.promise });
    const downloadOf = async (userId: string) => {
      const session = await gateway.sessions.issueSession(userId, { expiresInSeconds: 3_600 });
      return gateway.fetchUnchecked(PATH, { headers: { authorization: `Bearer ${session}` } });
    };
    const first = await Promise.all(Array.from({ length: 8 }, (_, index) => downloadOf(`person-${index}`)));
    expect(first.map(({ status }) => status)).toEqual(Array(8).fill(200));
    const ninth = await downloadOf('person-8');
    expect([ninth.status, ninth.headers.get('retry-after')]).toEqual([429, '60']);
    next.resolve({ grants: [], total: 0 });
    await Promise.all(first.map(async (response) => readZip(await response.bytes())));
    await readZip(await (await downloadOf('person-8')).bytes());
  });

  test('ends when the client disconnects, and does not fill memory when it does not read', async () => {
    const long = 'x'.repeat(1_000);
    let page = 0;
    gateway.backends.answer({
      ...DATA,
      // Does not end, and does not compress well.
      readOwn: ({ kind }) => {
        if (kind !== 'heart-rate') return NOTHING;
        page += 1;
        const noise = Array.from({ length: 100 }, (_, index) => ({
          note: `${Math.sin(page * 100 + index)}${long}`,
        }));
        return {
          ...itemsOf(
            ...noise.map((item) => ({
              ...item,
              random: crypto.getRandomValues(new Uint8Array(2_000)).join(''),
            })),
          ),
          nextBeforeMs: BigInt(page),
        };
      },
    });
    const request = get(gateway.url + PATH, { headers });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.on('error', () => undefined).pause();
    let before = -1;
    while (before !== page) {
      before = page;
      await gateway.fetch('/livez').then((alive) => alive.text());
      for (let turn = 0; turn < 200; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(before).toBeLessThan(300);
    request.destroy();
    gateway.backends.answer(DATA);
    // The gateway notices, so that a new one may begin.
    let next = await download();
    while (next.status === 429) next = await download();
    await readZip(await next.bytes());
  });

  test('needs a session, and a page of this origin when the session is in a cookie', async () => {
    expect((await gateway.fetch(PATH)).status).toBe(401);
    const cookie = `session=${headers['authorization']?.slice('Bearer '.length)}`;
    const from = (sender: Record<string, string>) =>
      gateway.fetchUnchecked(PATH, { headers: { cookie, ...sender } });
    expect((await from({ 'sec-fetch-site': 'cross-site' })).status).toBe(401);
    await readZip(await (await from({ 'sec-fetch-site': 'same-origin' })).bytes());
  });
});
