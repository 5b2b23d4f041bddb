import { describe, expect, test } from '@jest/globals';
import { ReportReason } from '@phds/contracts/phds/consent/v1/reports_pb';
import { newId } from '@phds/service-kit/ids';
import { eventually } from '@phds/test-kit/conditions';
import { parseComplaintText, refuseTooMany } from '../src/domain/app-report.ts';
import { renamingAt } from './renamed-apps.ts';
import { approve, openPending, registerApp, shareConsent } from './running-service.ts';

const consent = await shareConsent();
const app = await registerApp(consent);

const { rename, approveOpened } = renamingAt(() => consent);

type Subject = { case: 'grantId' | 'pendingId'; value: string };
const report = async (userId: string, subject: Subject, complaint = {}) =>
  consent.reports.asGateway.reportApp(
    { subject, reason: ReportReason.OTHER, ...complaint },
    await consent.session(userId),
  );
const list = (clientId = '', page = {}) => consent.reports.asOperator.listReports({ clientId, page });
const grantOf = async (userId: string, of = app): Promise<Subject> => ({
  case: 'grantId',
  value: (await approve(consent, of, userId)).grantId,
});

describe('a report', () => {
  test('about the app of a grant names the app as the person saw it, also after the grant has ended', async () => {
    const own = await registerApp(consent);
    const subject = await grantOf('reporter', own);
    await consent.asGateway.revokeGrant({ id: subject.value }, await consent.session('reporter'));
    await rename(own, 'Data Broker');
    const { id, at } = await report('reporter', subject, {
      reason: ReportReason.NOT_DELETED,
      text: ' It still\r\nmails me.\u202E\u001B[2J ',
    });
    expect(id).toMatch(/^rpt_/);
    expect((await list(own.clientId)).reports).toMatchObject([
      {
        id,
        at,
        clientId: own.clientId,
        appName: 'Pulse Diary',
        currentAppName: 'Data Broker',
        redirectHost: 'pulse.test',
        reason: ReportReason.NOT_DELETED,
        text: 'It still\nmails me.[2J',
        userId: 'reporter',
        grantId: subject.value,
        pendingId: '',
      },
    ]);
  });

  test('about a pending approval needs no decision, and stays possible after one', async () => {
    const own = await registerApp(consent);
    const value = await openPending(consent, own);
    await consent.asGateway.getPendingApproval({ id: value }, await consent.session('reader'));
    const subject = { case: 'pendingId', value } as const;
    await report('reader', subject, { reason: ReportReason.IMPERSONATION });
    await approveOpened(value, 'reader');
    await report('reader', subject, { reason: ReportReason.DATA_USE });
    const about = {
      appName: 'Pulse Diary',
      redirectHost: 'pulse.test',
      pendingId: value,
      grantId: '',
      text: '',
    };
    const { reports, total } = await list(own.clientId);
    expect(total).toBe(2);
    expect(reports).toMatchObject([
      { ...about, reason: ReportReason.DATA_USE },
      { ...about, reason: ReportReason.IMPERSONATION },
    ]);
    expect(await list(own.clientId, { page: 2, pageSize: 1 })).toMatchObject({
      reports: [{ reason: ReportReason.IMPERSONATION }],
      total: 2,
    });
  });

  test('about what another person has, what nobody has claimed and what nobody has is not found', async () => {
    const unclaimed = await openPending(consent, app);
    const claimed = await openPending(consent, app);
    await consent.asGateway.getPendingApproval({ id: claimed }, await consent.session('owner'));
    const subjects: Subject[] = [
      await grantOf('owner'),
      { case: 'grantId', value: newId('grt') },
      { case: 'grantId', value: claimed },
      { case: 'pendingId', value: claimed },
      { case: 'pendingId', value: unclaimed },
      { case: 'pendingId', value: newId('apr') },
      { case: 'pendingId', value: 'x' },
    ];
    const before = (await list()).total;
    for (const subject of subjects) {
      await expect(report('nosy', subject)).rejects.toMatchObject({
        reason: 'not_found',
        message: 'Not found.',
      });
    }
    expect((await list()).total).toBe(before);
  });

  test('needs a reason and a subject', async () => {
    const subject = await grantOf('vague');
    for (const reason of [ReportReason.UNSPECIFIED, 99 as ReportReason]) {
      await expect(report('vague', subject, { reason })).rejects.toMatchObject({
        violations: [{ parameter: 'reason' }],
      });
    }
    const session = await consent.session('vague');
    await expect(
      consent.reports.asGateway.reportApp({ reason: ReportReason.OTHER }, session),
    ).rejects.toMatchObject({ violations: [{ parameter: 'subject' }] });
  });

  test('is possible exactly ten times a day for each person, also when many arrive at once', async () => {
    const own = await registerApp(consent);
    const subject = await grantOf('angry', own);
    // All of them must be on one day.
    await eventually(async () => {
      const rows = await consent.rows("SELECT (now() AT TIME ZONE 'UTC')::time < '23:59:50' AS early");
      expect(rows).toEqual([{ early: true }]);
    });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 13 }, (_, nth) => report('angry', subject, { text: `No. ${nth}` })),
    );
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(refused.map(({ reason }) => reason)).toEqual(
      Array(3).fill(expect.objectContaining({ reason: 'rate_limited' })),
    );
    expect((await list(own.clientId)).total).toBe(10);
    await report('calm', await grantOf('calm', own));
    await consent.owner.query("UPDATE app_report SET at = at - interval '1 day' WHERE user_id = 'angry'");
    await report('angry', subject);
    expect((await list(own.clientId)).total).toBe(12);
  });

  test('sent again within a minute, also at once, is one report, and counts once', async () => {
    const own = await registerApp(consent);
    const subject = await grantOf('repeater', own);
    const complaint = { reason: ReportReason.DATA_USE, text: 'They sold it.' };
    const first = await Promise.all([1, 2, 3].map(() => report('repeater', subject, complaint)));
    const again = await report('repeater', subject, { ...complaint, text: ' They sold it.\u200B' });
    for (const { id, at } of first) expect({ id, at }).toEqual({ id: again.id, at: again.at });
    expect((await list(own.clientId)).total).toBe(1);
  });

  test('of a person who has made ten on this day can be sent again within a minute', async () => {
    const subject = await grantOf('tenth');
    for (let nth = 1; nth <= 9; nth += 1) await report('tenth', subject, { text: `No. ${nth}` });
    const { id } = await report('tenth', subject, { text: 'No. 10' });
    expect((await report('tenth', subject, { text: 'No. 10' })).id).toBe(id);
  });

  test('that differs in person, subject, reason or text, or comes after a minute, is another report', async () => {
    const own = await registerApp(consent);
    const subject = await grantOf('differing', own);
    const complaint = { reason: ReportReason.DATA_USE, text: 'They sold it.' };
    await report('differing', subject, complaint);
    await report('differing', subject, { ...complaint, reason: ReportReason.OTHER });
    await report('differing', subject, { ...complaint, text: '' });
    const value = await openPending(consent, own);
    await consent.asGateway.getPendingApproval({ id: value }, await consent.session('differing'));
    await report('differing', { case: 'pendingId', value }, complaint);
    await report('another', await grantOf('another', own), complaint);
    expect((await list(own.clientId)).total).toBe(5);
    await consent.owner.query("UPDATE app_report SET at = at - interval '61 seconds' WHERE client_id = $1", [
      own.clientId,
    ]);
    await report('differing', subject, complaint);
    expect((await list(own.clientId)).total).toBe(6);
  });

  test('stays without its reporter and text when the reporter is erased', async () => {
    const own = await registerApp(consent);
    const subject = await grantOf('forgotten', own);
    const text = 'My secret illness';
    const { id } = await report('forgotten', subject, { reason: ReportReason.DATA_USE, text });
    const kept = await report('bystander', await grantOf('bystander', own), { text: 'Kept' });
    await consent.asOperator.eraseUser({ userId: 'forgotten' });
    expect((await list(own.clientId)).reports).toMatchObject([
      { id: kept.id, userId: 'bystander', text: 'Kept' },
      { id, userId: '', text: '', reason: ReportReason.DATA_USE, appName: 'Pulse Diary' },
    ]);
  });
});

describe('the text of a report', () => {
  test('has at most 1000 characters', () => {
    expect(parseComplaintText('😀'.repeat(1_000))).toHaveLength(2_000);
    expect(() => parseComplaintText('x'.repeat(1_001))).toThrow('text: must have at most 1000 characters');
  });
});

describe('the daily limit', () => {
  test('says how long it is until the next UTC day', () => {
    const now = new Date('2026-02-28T23:59:29.500Z');
    expect(() => refuseTooMany(9, now)).not.toThrow();
    expect(() => refuseTooMany(10, now)).toThrow(
      expect.objectContaining({ reason: 'rate_limited', retryAfterSeconds: 31 }),
    );
  });
});
