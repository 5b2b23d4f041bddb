import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { NoticeService } from '@phds/contracts/phds/consent/v1/notices_pb';
import { openRpcChannel } from '@phds/service-kit/rpc/client';
import { eventually } from '@phds/test-kit/conditions';
import { FeedReader } from './feed-reader.ts';
import { approve, HEART, type RunningService, registerApp, startConsent } from './running-service.ts';

let consent: RunningService;

beforeAll(async () => {
  consent = await startConsent();
});
afterAll(() => consent[Symbol.asyncDispose]());

const INSERT = `INSERT INTO notice (id, at, user_id, kind, content)
  VALUES ($1, $3, $2, 'connection_began', $4)`;

/** The values of a notice as a decision writes it. */
function noticeValues(id: string, userId: string, at = new Date()) {
  const terms = { scopes: [HEART], expiresAt: new Date(Date.now() + 86_400_000), dataFrom: null };
  const connection = { grantId: `grt_${id}`, clientId: 'app_x', appName: 'Pulse Diary', terms };
  return [id, userId, at, JSON.stringify({ kind: 'connection_began', connection })];
}

async function addNotice(id: string, userId: string, at?: Date): Promise<void> {
  await consent.owner.query(INSERT, noticeValues(id, userId, at));
}

const setLast = (number: number) => consent.owner.query('UPDATE notice_feed SET last_number = $1', [number]);

describe('a reader of the feed', () => {
  test('misses no notice that began earlier and commits after it has read a later one', async () => {
    const reader = new FeedReader(consent);
    await reader.readOf('early');
    const early = await consent.owner.connect();
    try {
      await early.query('BEGIN');
      await early.query(INSERT, noticeValues('early-1', 'early'));
      await addNotice('late-1', 'late');
      expect(await reader.readOf('late')).toHaveLength(1);
      expect(await reader.readOf('early')).toHaveLength(0);
      await early.query('COMMIT');
    } finally {
      early.release();
    }
    expect(await reader.readOf('early')).toHaveLength(1);
  });

  test('sees every notice in the same order as other readers, though they are written and read at the same time', async () => {
    const readers = [new FeedReader(consent), new FeedReader(consent), new FeedReader(consent)];
    for (const reader of readers) await reader.readOf('');
    const before = readers.map(({ seen }) => seen.length);
    let writing = true;
    const write = async (writer: number) => {
      for (let each = 0; each < 20; each += 1) {
        const client = await consent.owner.connect();
        try {
          await client.query('BEGIN');
          await client.query(INSERT, noticeValues(`busy-${writer}-${each}`, 'busy'));
          // Another writer commits in between.
          await client.query(INSERT, noticeValues(`busy-${writer}-${each}-more`, 'busy'));
          await client.query('COMMIT');
        } finally {
          client.release();
        }
      }
    };
    const reading = readers.map(async (reader) => {
      while (writing) await reader.read(7);
    });
    await Promise.all([write(1), write(2), write(3)]);
    writing = false;
    await Promise.all(reading);
    const orders = await Promise.all(
      readers.map(async (reader) => (await reader.readOf('busy')).map(({ id }) => id)),
    );
    expect(new Set(orders[0]).size).toBe(120);
    for (const order of orders) expect(order).toEqual(orders[0]);
    // Each of them exactly once, because no answer was lost.
    expect(readers.map(({ seen }, index) => seen.length - before[index]!)).toEqual([120, 120, 120]);
  });

  test('gets the same notices again when it repeats a call', async () => {
    await addNotice('again-1', 'again');
    const first = await consent.notices.listNotices({ limit: 500 });
    const second = await consent.notices.listNotices({ limit: 500 });
    expect(second.notices.map(({ id, cursor }) => [id, cursor])).toEqual(
      first.notices.map(({ id, cursor }) => [id, cursor]),
    );
  });

  test('gets as many as it asks for, then the rest, then nothing with the same cursor', async () => {
    const reader = new FeedReader(consent);
    await reader.readOf('pages');
    for (const each of [1, 2, 3]) await addNotice(`pages-${each}`, 'pages');
    expect(await reader.read(2)).toHaveLength(2);
    expect(reader.after).toBe(reader.seen.at(-1)?.cursor);
    expect(await reader.read(2)).toHaveLength(1);
    const end = reader.after;
    expect(await reader.read(2)).toEqual([]);
    expect(reader.after).toBe(end);
  });

  test('goes on after notices that were removed, and their numbers are not given again', async () => {
    const reader = new FeedReader(consent);
    await addNotice('removed-1', 'removed');
    await reader.readOf('removed');
    await consent.owner.query('DELETE FROM notice');
    await addNotice('removed-2', 'removed');
    expect((await reader.readOf('removed')).map(({ id }) => id)).toEqual(['removed-1', 'removed-2']);
  });

  test('of a database that was set back gets everything that is added from then on, and repeats by the same id', async () => {
    const reader = new FeedReader(consent);
    await addNotice('kept-1', 'set-back');
    await reader.readOf('set-back');
    // As in a backup from before the feed was read.
    await consent.owner.query('UPDATE notice SET number = NULL');
    await consent.owner.query('UPDATE notice_feed SET last_number = 0');
    await addNotice('kept-2', 'set-back');
    const ids = (await reader.readOf('set-back')).map(({ id }) => id);
    expect(ids).toEqual(['kept-1', 'kept-1', 'kept-2']);
  });

  test('whose cursor is ahead of a database that lost the last numbering, and whose clock is behind, gets what others read first', async () => {
    const [ahead, behind] = [new FeedReader(consent), new FeedReader(consent)];
    await behind.readOf('');
    // As if the clock had been five minutes ahead until now.
    await setLast(Date.now() * 1_000 + 300_000_000);
    await addNotice('lost-1', 'lost');
    await ahead.readOf('lost');
    await consent.owner.query("DELETE FROM notice WHERE id = 'lost-1'");
    await setLast(0);
    expect(await ahead.read()).toEqual([]);
    await addNotice('lost-2', 'lost');
    expect((await behind.readOf('lost')).map(({ id }) => id)).toContain('lost-2');
    expect((await ahead.readOf('lost')).map(({ id }) => id)).toContain('lost-2');
  });

  test('more than ten minutes ahead is refused and moves no number', async () => {
    const reader = new FeedReader(consent);
    await reader.readOf('');
    const lastNumber = 'SELECT last_number FROM notice_feed';
    const { rows: before } = await consent.owner.query(lastNumber);
    const after = String(Math.max(Number(before[0].last_number), Date.now() * 1_000) + 660_000_000);
    await expect(consent.notices.listNotices({ after })).rejects.toMatchObject({ reason: 'invalid_request' });
    expect((await consent.owner.query(lastNumber)).rows).toEqual(before);
  });

  test.each([
    ['after', 'x'],
    ['after', '-1'],
    ['after', '1.5'],
    ['after', '99999999999999999'],
    ['after', '9007199254740992'],
    ['after', String((Date.now() + 3_600_000) * 1_000)],
    ['limit', 501],
  ])('is told that %s cannot be %s', async (parameter, value) => {
    await expect(consent.notices.listNotices({ [parameter]: value })).rejects.toMatchObject({
      reason: 'invalid_request',
      violations: [{ parameter }],
    });
  });

  test.each(['gateway', 'authorization', 'health-data', 'operator'] as const)(
    'must be the host application, not %s',
    async (caller) => {
      using channel = openRpcChannel({
        address: `127.0.0.1:${consent.service.rpcPort}`,
        audience: 'consent',
        tokens: consent.tokens[caller],
        deadlineMs: 15_000,
      });
      const refused = channel.client(NoticeService).listNotices({});
      await expect(refused).rejects.toMatchObject({ reason: 'caller_not_admitted' });
    },
  );
});

describe('notices end', () => {
  test('with the erasure of their person, and not of another', async () => {
    const app = await registerApp(consent);
    await approve(consent, app, 'notice-to-erase');
    await approve(consent, app, 'notice-to-keep');
    expect(await new FeedReader(consent).readOf('notice-to-erase')).toHaveLength(1);
    await consent.asOperator.eraseUser({ userId: 'notice-to-erase' });
    expect(await new FeedReader(consent).readOf('notice-to-erase')).toEqual([]);
    expect(await new FeedReader(consent).readOf('notice-to-keep')).toHaveLength(1);
  });

  test('after the days for which they are kept, read or not', async () => {
    const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);
    await addNotice('old-read', 'old', daysAgo(91));
    await new FeedReader(consent).readOf('old');
    await addNotice('old-unread', 'old', daysAgo(91));
    await addNotice('younger', 'old', daysAgo(89));
    await using _pruning = await consent.startAnother({ PRUNE_INTERVAL_MS: '20' });
    await eventually(async () => {
      const { rows } = await consent.owner.query(`SELECT id FROM notice WHERE user_id = 'old'`);
      expect(rows).toEqual([{ id: 'younger' }]);
    });
  });
});
