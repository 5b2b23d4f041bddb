import { timestampDate } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AppStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { ReportReason } from '@phds/contracts/phds/consent/v1/reports_pb';
import { FeedReader } from './feed-reader.ts';
import {
  approve,
  GLUCOSE,
  HEART,
  MOOD,
  openPending,
  type RunningService,
  registerApp,
  startConsent,
} from './running-service.ts';

let consent: RunningService;

beforeAll(async () => {
  consent = await startConsent();
});
afterAll(() => consent[Symbol.asyncDispose]());

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
