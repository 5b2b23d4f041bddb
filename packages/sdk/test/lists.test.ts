import { describe, expect, test } from '@jest/globals';
import { json, lostConnection, makeClient, problem, type Sent, tokens } from './made-client.ts';

const item = (number: number) => ({ id: `rdg_${number}` });
const pageOf = ({ url }: Sent) => Number(url.searchParams.get('page'));

function toPage(sent: Sent, all: readonly unknown[]) {
  const [page, pageSize] = [pageOf(sent), Number(url(sent).get('pageSize'))];
  const pagination = { page, pageSize, total: all.length, totalPages: Math.ceil(all.length / pageSize) };
  return json(200, { data: all.slice((page - 1) * pageSize, page * pageSize), pagination });
}

const url = (sent: Sent) => sent.url.searchParams;

async function connect(reply: Parameters<typeof makeClient>[0]) {
  const made = makeClient(reply);
  await made.store.replace('grt_1', null, tokens(1, made.clock.now()));
  return { ...made, connection: made.client.connection('grt_1') };
}

describe('lists', () => {
  test('a list is read page by page while it is iterated', async () => {
    const all = Array.from({ length: 7 }, (_, number) => item(number));
    const { connection, service } = await connect((sent) => toPage(sent, all));
    const seen: unknown[] = [];
    for await (const reading of connection.healthData('heart', { pageSize: 3, type: 'Heart Rate' })) {
      seen.push(reading);
      if (seen.length === 1) expect(service.sent.length).toBe(1);
    }
    expect(seen).toEqual(all);
    expect(service.sent.map(pageOf)).toEqual([1, 2, 3]);
    expect(service.sent.every((sent) => url(sent).get('type') === 'Heart Rate')).toBe(true);
  });

  test('a list that is empty takes one request and has no items', async () => {
    const { connection, service } = await connect((sent) => toPage(sent, []));
    expect(await connection.mood().toArray({ limit: 10 })).toEqual([]);
    expect(service.sent.length).toBe(1);
  });

  test('a list stops being read at the limit of an array', async () => {
    const all = Array.from({ length: 500 }, (_, number) => item(number));
    const { connection, service } = await connect((sent) => toPage(sent, all));
    expect(await connection.healthData('heart').toArray({ limit: 100 })).toEqual(all.slice(0, 100));
    expect(service.sent.length).toBe(1);
    expect(await connection.healthData('heart').toArray({ limit: 0 })).toEqual([]);
  });

  test('a list is read only as far as the small limit of an array needs', async () => {
    const all = Array.from({ length: 500 }, (_, number) => item(number));
    const { connection, service } = await connect((sent) => toPage(sent, all));
    expect(await connection.healthData('heart').toArray({ limit: 10 })).toEqual(all.slice(0, 10));
    expect(await connection.healthData('heart').toArray({ limit: 150 })).toEqual(all.slice(0, 150));
    expect(service.sent.map((sent) => url(sent).get('pageSize'))).toEqual(['10', '100', '100']);
  });

  test('a list keeps the size of its pages for an array when the caller chose the size or a later first page', async () => {
    const all = Array.from({ length: 500 }, (_, number) => item(number));
    const { connection } = await connect((sent) => toPage(sent, all));
    const later = await connection.healthData('heart', { page: 2 }).toArray({ limit: 10 });
    expect(later).toEqual(all.slice(100, 110));
    const sized = await connection.healthData('heart', { page: 2, pageSize: 20 }).toArray({ limit: 10 });
    expect(sized).toEqual(all.slice(20, 30));
  });

  test('a list yields each item once when more than a page of new data arrives between two pages', async () => {
    const all = [1, 2, 3, 4, 5].map(item);
    const { connection } = await connect((sent) => {
      if (pageOf(sent) === 2) all.unshift(...[9, 8, 7].map(item));
      return toPage(sent, all);
    });
    const seen = await connection.healthData('heart', { pageSize: 2 }).toArray({ limit: 100 });
    expect(seen.map(({ id }) => id)).toEqual(['rdg_1', 'rdg_2', 'rdg_7', 'rdg_3', 'rdg_4', 'rdg_5']);
  });

  test('a list keeps equal items without ids, such as points of trends', async () => {
    const { connection } = await connect((sent) => toPage(sent, [{ value: 1 }, { value: 1 }, { value: 1 }]));
    expect((await connection.trends({ pageSize: 1 }).toArray({ limit: 9 })).length).toBe(3);
  });

  test('a list goes on after a restart of the service in the middle of an iteration', async () => {
    const all = [1, 2, 3].map(item);
    const failures = [lostConnection(), lostConnection(), problem(503, 'INTERNAL_ERROR')];
    const { connection } = await connect(
      (sent) => (pageOf(sent) === 2 ? failures.shift() : undefined) ?? toPage(sent, all),
    );
    expect(await connection.healthData('heart', { pageSize: 1 }).toArray({ limit: 9 })).toEqual(all);
    expect(failures).toEqual([]);
  });

  test('a list sends dates as instants', async () => {
    const { connection, service } = await connect((sent) => toPage(sent, []));
    await connection.healthData('heart', { from: new Date(0), to: '2026-01-01' }).page();
    expect(url(service.sent[0] as Sent).get('from')).toBe('1970-01-01T00:00:00.000Z');
    expect(url(service.sent[0] as Sent).get('to')).toBe('2026-01-01');
  });
});

describe('sync', () => {
  const batch = (number: number, hasMore: boolean) => ({
    data: [item(number)],
    sync: { cursor: `cur_${number}`, hasMore, lastDataAt: null, timeZone: 'UTC' },
  });

  test('sync begins at the beginning, follows the cursors, and ends when there is no more', async () => {
    const { connection, service } = await connect((_, index) => json(200, batch(index, index < 2)));
    const cursors: string[] = [];
    for await (const { cursor, changes } of connection.sync('heart')) {
      cursors.push(cursor);
      expect(changes.length).toBe(1);
    }
    expect(cursors).toEqual(['cur_0', 'cur_1', 'cur_2']);
    const asked = service.sent.map((sent) => url(sent).get('updatedSince'));
    expect(asked).toEqual(['1970-01-01T00:00:00Z', 'cur_0', 'cur_1']);
  });

  test('sync goes on behind an empty batch that has more, and yields its cursor', async () => {
    const { connection } = await connect((_, index) =>
      json(200, { ...batch(index, index < 2), data: index < 2 ? [] : [item(2)] }),
    );
    const batches: [string, number][] = [];
    for await (const { cursor, changes } of connection.sync('heart', { type: 'HRV' }))
      batches.push([cursor, changes.length]);
    expect(batches).toEqual([
      ['cur_0', 0],
      ['cur_1', 0],
      ['cur_2', 1],
    ]);
  });

  test('sync goes on at a stored cursor', async () => {
    const { connection, service } = await connect(() => json(200, batch(1, false)));
    for await (const { hasMore } of connection.sync('heart', { cursor: 'cur_7', type: 'HRV' }))
      expect(hasMore).toBe(false);
    expect(service.sent.map(({ url: { search } }) => search)).toEqual([
      '?updatedSince=cur_7&type=HRV&pageSize=100',
    ]);
  });

  test('sync fails with CURSOR_EXPIRED when the copy has to be read again', async () => {
    const { connection } = await connect(() => problem(410, 'CURSOR_EXPIRED'));
    await expect(connection.sync('heart', { cursor: 'cur_7' }).next()).rejects.toMatchObject({
      code: 'CURSOR_EXPIRED',
    });
  });
});
