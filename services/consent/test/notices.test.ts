import { timestampDate } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from '@jest/globals';
import { AppStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { ReportReason } from '@phds/contracts/phds/consent/v1/reports_pb';
import type { Notice } from '@phds/contracts/phds/events/v1/notice_pb';
import { eventually } from '@phds/test-kit/conditions';
import type { GrantTerms } from '../src/domain/grant.ts';
import { type ApprovedConnection, toApprovalNotice } from '../src/domain/notice.ts';
import {
  type HeavyDay,
  mayAnnounceEnd,
  toEndingId,
  toEndingNotice,
  toUnusualNotice,
} from '../src/domain/scanned-grant.ts';
import {
  approve,
  GLUCOSE,
  HEART,
  MOOD,
  openPending,
  type RunningService,
  registerApp,
  shareConsent,
} from './running-service.ts';

const consent = await shareConsent();

const INSERT = `INSERT INTO notice (id, at, user_id, kind, content)
  VALUES ($1, $3, $2, 'connection_began', $4)`;

/** The values of a notice as a decision writes it. */
function noticeValues(id: string, userId: string, at = new Date()) {
  const terms = { scopes: [HEART], expiresAt: new Date(Date.now() + 86_400_000), dataFrom: null };
  const connection = { grantId: `grt_${id}`, clientId: 'app_x', appName: 'Pulse Diary', terms };
  return [id, userId, at, JSON.stringify({ kind: 'connection_began', connection })];
}

/** A reader of the feed that goes on from its last cursor. */
class FeedReader {
  after = '';
  readonly seen: Notice[] = [];
  readonly #consent: RunningService;

  constructor(consent: RunningService) {
    this.#consent = consent;
  }

  async read(limit = 0): Promise<Notice[]> {
    const { notices, next } = await this.#consent.notices.listNotices({ after: this.after, limit });
    this.after = next;
    this.seen.push(...notices);
    return notices;
  }

  /** Reads to the end and returns the notices about that person. */
  async readOf(userId: string): Promise<Notice[]> {
    while ((await this.read()).length > 0);
    return this.seen.filter((notice) => notice.userId === userId);
  }
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
    expect(await consent.rows(lastNumber)).toEqual(before);
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
      expect(await consent.rows(`SELECT id FROM notice WHERE user_id = 'old'`)).toEqual([{ id: 'younger' }]);
    });
  });
});

describe('decisions', () => {
  test('say in the feed that a connection began, with what a mail needs', async () => {
    const app = await registerApp(consent);
    const { grantId, grantExpiresAt } = await approve(consent, app, 'beginner', {
      approved: [HEART],
      days: 30,
      dataFrom: '2026-01-01',
    });
    const notices = await new FeedReader(consent).readOf('beginner');
    expect(notices).toMatchObject([
      {
        id: `began:${grantId}`,
        kind: {
          case: 'connectionBegan',
          value: {
            connection: {
              grantId,
              clientId: app.clientId,
              appName: 'Pulse Diary',
              terms: { scopes: [HEART], expiresAt: grantExpiresAt, dataFrom: '2026-01-01' },
            },
          },
        },
      },
    ]);
    expect(Math.abs(timestampDate(notices[0]!.at!).getTime() - Date.now())).toBeLessThan(60_000);
  });

  test('name the app as the person saw it, even if it is called otherwise when the feed is read', async () => {
    const app = await registerApp(consent);
    const pending = await openPending(consent, app);
    await consent.ledger.putApp({ app: { ...app, name: 'Renamed' } });
    await consent.asAuthorization.approve(
      { id: pending, allRequested: true },
      await consent.session('renamed'),
    );
    expect(await new FeedReader(consent).readOf('renamed')).toMatchObject([
      { kind: { value: { connection: { appName: 'Pulse Diary' } } } },
    ]);
  });

  test('say what changed when an approval joins the connection, and nothing when it changes nothing', async () => {
    const app = await registerApp(consent);
    const first = await approve(consent, app, 'changer', { approved: [HEART], days: 30 });
    const id = await openPending(consent, app, [HEART]);
    await consent.asAuthorization.approve(
      { id, allRequested: true, keepExpiry: true },
      await consent.session('changer'),
    );
    await approve(consent, app, 'changer', { requested: [MOOD], days: 90 });
    const notices = await new FeedReader(consent).readOf('changer');
    expect(notices.map(({ kind }) => kind.case)).toEqual(['connectionBegan', 'connectionChanged']);
    expect(notices[1]).toMatchObject({
      kind: {
        value: {
          connection: { grantId: first.grantId, terms: { scopes: [HEART, MOOD], dataFrom: '' } },
          before: { scopes: [HEART], expiresAt: first.grantExpiresAt, dataFrom: '' },
        },
      },
    });
  });

  test('make one notice when they are repeated, and none when they are refused or denied', async () => {
    const app = await registerApp(consent);
    const session = await consent.session('repeater');
    const [approved, denied] = [await openPending(consent, app), await openPending(consent, app)];
    await consent.asAuthorization.approve({ id: approved, allRequested: true }, session);
    await consent.asAuthorization.approve({ id: approved, allRequested: true }, session);
    await consent.asAuthorization.deny({ id: denied }, session);
    const late = await openPending(consent, app, [MOOD]);
    await consent.ledger.setAppStatus({ clientId: app.clientId, status: AppStatus.SUSPENDED });
    const refused = consent.asAuthorization.approve({ id: late, allRequested: true }, session);
    await expect(refused).rejects.toMatchObject({ reason: 'app_not_active' });
    expect(await new FeedReader(consent).readOf('repeater')).toHaveLength(1);
  });

  test('make no notice of what the person only withdraws', async () => {
    const app = await registerApp(consent);
    const { grantId } = await approve(consent, app, 'withdrawer');
    const session = await consent.session('withdrawer');
    await consent.asGateway.narrowGrant({ id: grantId, setScopes: true, scopes: [GLUCOSE] }, session);
    await consent.asGateway.revokeGrant({ id: grantId }, session);
    const notices = await new FeedReader(consent).readOf('withdrawer');
    expect(notices.map(({ kind }) => kind.case)).toEqual(['connectionBegan']);
  });

  test('leave no notice when they are rolled back', async () => {
    const app = await registerApp(consent);
    const id = await openPending(consent, app);
    await consent.owner.query(
      `ALTER TABLE notice ADD CONSTRAINT test_refuses CHECK (user_id <> 'rolled-back') NOT VALID`,
    );
    try {
      const session = await consent.session('rolled-back');
      const failed = consent.asAuthorization.approve({ id, allRequested: true }, session);
      await expect(failed).rejects.toMatchObject({ reason: 'internal' });
      // The grant, too: one transaction holds both.
      expect((await consent.asGateway.listGrants({}, session)).grants).toEqual([]);
    } finally {
      await consent.owner.query('ALTER TABLE notice DROP CONSTRAINT test_refuses');
    }
  });
});

test('a report says in the feed what was reported and why, until its person is erased', async () => {
  const app = await registerApp(consent);
  const { grantId } = await approve(consent, app, 'reporter');
  const pendingId = await openPending(consent, app);
  const session = await consent.session('reporter');
  await consent.asGateway.getPendingApproval({ id: pendingId }, session);
  const reports = consent.reports.asGateway;
  const subject = { case: 'grantId', value: grantId } as const;
  const first = await reports.reportApp(
    { subject, reason: ReportReason.DATA_USE, text: 'It sells my data.' },
    session,
  );
  await reports.reportApp(
    { subject: { case: 'pendingId', value: pendingId }, reason: ReportReason.IMPERSONATION },
    session,
  );
  const about = { clientId: app.clientId, appName: 'Pulse Diary', redirectHost: 'pulse.test' };
  expect(await new FeedReader(consent).readOf('reporter')).toMatchObject([
    { kind: { case: 'connectionBegan' } },
    {
      id: `reported:${first.id}`,
      at: first.at,
      kind: {
        case: 'appReported',
        value: { ...about, reportId: first.id, grantId, reason: 'data_use', text: 'It sells my data.' },
      },
    },
    { kind: { case: 'appReported', value: { ...about, grantId: '', reason: 'impersonation', text: '' } } },
  ]);
  await consent.asOperator.eraseUser({ userId: 'reporter' });
  expect(await new FeedReader(consent).readOf('reporter')).toEqual([]);
});

const DAY_MS = 86_400_000;
const NOW = new Date('2026-03-01T12:00:00.000Z');
const inDays = (days: number) => new Date(NOW.getTime() + days * DAY_MS);
const terms: GrantTerms = {
  scopes: ['read:health-data:heart', 'read:mood'],
  expiresAt: inDays(5),
  dataFrom: '2026-01-01',
};
const connection = { grantId: 'grt_1', clientId: 'app_1', appName: 'Pulse Diary', terms };

describe('an approval', () => {
  const approved: ApprovedConnection = {
    pendingId: 'apr_1',
    userId: 'ada',
    at: NOW,
    connection,
    before: null,
  };

  test.each<[string, Partial<GrantTerms>]>([
    ['the scopes', { scopes: ['read:mood'] }],
    ['the end', { expiresAt: inDays(4) }],
    ['the first day', { dataFrom: null }],
  ])('that changes %s says what the terms were before', (_, changed) => {
    const before = { ...terms, ...changed };
    // A whole grant, as the store has it: only its terms belong into a notice.
    const liveGrant = { ...before, id: 'grt_1', userId: 'ada', status: 'active' };
    expect(toApprovalNotice({ ...approved, before: liveGrant })).toEqual({
      id: 'changed:apr_1',
      userId: 'ada',
      at: NOW,
      content: { kind: 'connection_changed', connection, before },
    });
  });
});

describe('the end of a connection', () => {
  const dates = (grantedDaysAgo: number, endsInDays: number) => ({
    id: 'grt_1',
    grantedAt: inDays(-grantedDaysAgo),
    expiresAt: inDays(endsInDays),
  });
  const ending = (setDaysAgo: number, endsInDays: number) => ({
    userId: 'ada',
    connection: { ...connection, terms: { ...terms, expiresAt: inDays(endsInDays) } },
    endSetAt: inDays(-setDaysAgo),
  });

  test('is announced once for each end', () => {
    const notice = toEndingNotice(ending(83, 7), NOW);
    expect(notice).toMatchObject({ userId: 'ada', at: NOW, content: { kind: 'connection_ending' } });
    expect(notice?.id).toBe(toEndingId('grt_1', inDays(7)));
    expect(toEndingId('grt_1', inDays(6))).not.toBe(notice?.id);
  });

  test.each([
    ['more than seven days away', 83, 7.001],
    ['set fourteen days ahead', 7, 7],
    ['reached', 90, 0],
    ['past', 91, -1],
  ])('is not announced when it is %s', (_, setDaysAgo, endsInDays) => {
    expect(toEndingNotice(ending(setDaysAgo, endsInDays), NOW)).toBeNull();
    expect(mayAnnounceEnd(dates(setDaysAgo, endsInDays), NOW)).toBe(false);
  });

  test('that was set recently is not announced, however old the connection is', () => {
    expect(mayAnnounceEnd(dates(83, 7), NOW)).toBe(true);
    expect(toEndingNotice(ending(1, 7), NOW)).toBeNull();
  });

  test('that was set just more than fourteen days ahead is announced', () => {
    expect(mayAnnounceEnd(dates(7.001, 7), NOW)).toBe(true);
    expect(toEndingNotice(ending(7.001, 7), NOW)).not.toBeNull();
  });
});

describe('a day of reading', () => {
  const day = (facts: Pick<HeavyDay, 'reads' | 'pastReads' | 'pastDays'>): HeavyDay => ({
    userId: 'ada',
    connection,
    day: '2026-03-01',
    ...facts,
  });

  test.each([
    ['more reads than a hundred and than five times the usual', { reads: 101, pastReads: 565, pastDays: 28 }],
    ['reads after days without any', { reads: 101, pastReads: 0, pastDays: 28 }],
    ['many reads when the connection is seven days old', { reads: 1_000, pastReads: 700, pastDays: 7 }],
  ])('is unusual with %s', (_, facts) => {
    expect(toUnusualNotice(day(facts), NOW)).toEqual({
      id: 'unusual:grt_1:2026-03-01',
      userId: 'ada',
      at: NOW,
      content: {
        kind: 'unusual_reading',
        connection,
        day: '2026-03-01',
        reads: facts.reads,
        usualReadsPerDay: Math.round(facts.pastReads / facts.pastDays),
      },
    });
  });

  test.each([
    ['a hundred reads', { reads: 100, pastReads: 0, pastDays: 28 }],
    ['five times the usual', { reads: 1_000, pastReads: 5_600, pastDays: 28 }],
    ['many reads by a connection of six days', { reads: 100_000, pastReads: 6, pastDays: 6 }],
    ['many reads on the first day', { reads: 100_000, pastReads: 0, pastDays: 0 }],
  ])('is usual with %s', (_, facts) => {
    expect(toUnusualNotice(day(facts), NOW)).toBeNull();
  });
});
