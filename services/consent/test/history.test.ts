import { timestampFromDate, timestampMs } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from '@jest/globals';
import { Verdict } from '@phds/contracts/phds/consent/v1/access_pb';
import { eventually } from '@phds/test-kit/conditions';
import {
  accessOf,
  approve,
  GLUCOSE,
  HEART,
  MOOD,
  record,
  registerApp,
  shareConsent,
  startConsent,
} from './running-service.ts';

const BLOCKED =
  'SELECT FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE NOT l.granted AND a.datname = current_database()';

const consent = await shareConsent();

describe('the access history', () => {
  test('shows a person what was read and what was refused, newest first', async () => {
    const app = await registerApp(consent);
    const grant = await approve(consent, app, 'reader');
    await record(consent, accessOf(grant));
    await record(consent, { ...accessOf(grant), scope: MOOD, endpoint: '/api/v1/mood', recordCount: 3 });
    const { accesses, total } = await consent.as('reader').listAccesses({});
    expect(total).toBe(2);
    expect(accesses).toMatchObject([
      { scope: MOOD, endpoint: '/api/v1/mood', recordCount: 3, verdict: Verdict.SCOPE_WITHDRAWN },
      {
        id: expect.stringMatching(/^acc_[0-9a-f]{32}$/),
        clientId: app.clientId,
        appName: 'Pulse Diary',
        grantId: grant.grantId,
        scope: HEART,
        from: '2026-01-01',
        to: '',
        recordCount: 20,
        verdict: Verdict.RELEASED,
      },
    ]);
  });

  test.each(['history', 'usage'])(
    'is read in turn: one who asks for much %s leaves connections to others',
    async (what) => {
      await using narrow = await startConsent({ settings: { DATABASE_POOL_SIZE: '8' } });
      const { owner, history } = narrow;
      const toRead = async (name: string) => {
        const session = await narrow.session(name);
        const { clientId } = await registerApp(narrow, name);
        return () =>
          what === 'usage' ? history.getAppUsage({ clientId }, session) : history.listAccesses({}, session);
      };
      const [readGreedily, readAsOther] = [await toRead('greedy'), await toRead('other')];
      const locked = await owner.connect();
      const expectBlocked = (count: number) =>
        eventually(async () => expect((await owner.query(BLOCKED)).rows).toHaveLength(count));
      await locked.query('BEGIN');
      await locked.query('LOCK TABLE person, app');
      const answers: Promise<unknown>[] = Array.from({ length: 12 }, readGreedily);
      await expectBlocked(2);
      answers.push(readAsOther());
      await expectBlocked(3);
      await locked.query('COMMIT');
      locked.release();
      await Promise.all(answers);
    },
  );

  test('keeps the order of a batch across pages', async () => {
    const grant = await approve(consent, await registerApp(consent), 'pager');
    const accesses = Array.from({ length: 30 }, (_, page) => ({ ...accessOf(grant), recordCount: page }));
    await consent.records.recordAccess({ accesses });
    const session = await consent.session('pager');
    const counts: number[] = [];
    for (const page of [1, 2, 3]) {
      const answer = await consent.history.listAccesses({ page: { page, pageSize: 12 } }, session);
      expect(answer.total).toBe(30);
      counts.push(...answer.accesses.map((access) => access.recordCount));
    }
    expect(counts).toEqual(Array.from({ length: 30 }, (_, index) => 29 - index));
  });

  test("can be filtered by grant, app, scope and time; another person's grant is not found", async () => {
    const [one, two] = [await registerApp(consent), await registerApp(consent)];
    const [first, second] = [await approve(consent, one, 'filter'), await approve(consent, two, 'filter')];
    await record(consent, accessOf(first));
    await record(consent, { ...accessOf(second), scope: GLUCOSE });
    const session = await consent.session('filter');
    const count = async (filter: object) => (await consent.history.listAccesses(filter, session)).total;
    expect(await count({ grantId: first.grantId })).toBe(1);
    expect(await count({ clientId: two.clientId })).toBe(1);
    expect(await count({ scope: GLUCOSE })).toBe(1);
    expect(await count({ grantId: first.grantId, scope: GLUCOSE })).toBe(0);
    const several = `${HEART} ${GLUCOSE}`;
    await record(consent, { ...accessOf(first), scope: several, endpoint: '/fhir/R4/Observation' });
    const ofGrant = { grantId: first.grantId, scope: GLUCOSE };
    expect(await count(ofGrant)).toBe(1);
    expect(await count({ grantId: first.grantId, scope: HEART })).toBe(2);
    const { days } = await consent.history.listAccessDays(ofGrant, session);
    expect(days).toMatchObject([{ released: 1, refused: 0, scopes: [{ scope: several, released: 1 }] }]);
    const { accesses } = await consent.history.listAccesses({}, session);
    const at = timestampMs(accesses[0]!.at!);
    expect(await count({ from: timestampFromDate(new Date(at + 1)) })).toBe(0);
    expect(await count({ to: timestampFromDate(new Date(at + 1)) })).toBe(3);
    for (const from of [at, at + 1]) {
      const empty = { from: timestampFromDate(new Date(from)), to: timestampFromDate(new Date(at)) };
      await expect(count(empty)).rejects.toMatchObject({ reason: 'invalid_request' });
    }
    const other = await approve(consent, one, 'other');
    await expect(consent.history.listAccesses({ grantId: other.grantId }, session)).rejects.toMatchObject({
      reason: 'not_found',
    });
  });
});

describe('the export of the access history', () => {
  test('returns every access once, newest first, in pieces that continue after the previous one', async () => {
    const grant = await approve(consent, await registerApp(consent), 'exporter');
    const count = 501;
    for (let first = 0; first < count; first += 500) {
      const accesses = Array.from({ length: Math.min(500, count - first) }, (_, index) => ({
        ...accessOf(grant),
        requestId: `req_${first + index}`,
      }));
      await consent.records.recordAccess({ accesses });
    }
    const session = await consent.session('exporter');
    const pieces: string[][] = [];
    for (let afterId = ''; ; ) {
      const { accesses } = await consent.history.listAccesses({ inPieces: true, afterId }, session);
      const last = accesses.at(-1);
      if (last === undefined) break;
      pieces.push(accesses.map(({ requestId }) => requestId));
      // Recorded in the meantime, so it is newer than the remaining pieces.
      if (afterId === '') await record(consent, { ...accessOf(grant), requestId: 'late' });
      afterId = last.id;
    }
    expect(pieces.map(({ length }) => length)).toEqual([500, 1]);
    expect(pieces.flat()).toEqual(Array.from({ length: count }, (_, index) => `req_${count - 1 - index}`));
  });

  test("accepts the filters of the list, refuses an invalid position, and does not find another person's grant", async () => {
    const app = await registerApp(consent);
    const grant = await approve(consent, app, 'picky');
    await record(consent, accessOf(grant));
    await record(consent, { ...accessOf(grant), scope: GLUCOSE });
    const session = await consent.session('picky');
    const { accesses } = await consent.history.listAccesses(
      { inPieces: true, scope: GLUCOSE, grantId: grant.grantId },
      session,
    );
    expect(accesses).toMatchObject([{ scope: GLUCOSE, page: 1 }]);
    await expect(
      consent.history.listAccesses({ inPieces: true, afterId: 'acc_1' }, session),
    ).rejects.toMatchObject({
      reason: 'invalid_request',
    });
    const other = await approve(consent, app, 'other-exporter');
    await expect(
      consent.history.listAccesses({ inPieces: true, grantId: other.grantId }, session),
    ).rejects.toMatchObject({
      reason: 'not_found',
    });
  });
});

describe('days of accesses', () => {
  test("are counted for each app as released and refused; another person's grant is not found", async () => {
    const [one, two] = [await registerApp(consent), await registerApp(consent)];
    const [first, second] = [await approve(consent, one, 'days'), await approve(consent, two, 'days')];
    await record(consent, accessOf(first));
    await record(consent, accessOf(first));
    await record(consent, { ...accessOf(first), scope: MOOD });
    await record(consent, accessOf(second));
    const session = await consent.session('days');
    const days = async (filter: object) => (await consent.history.listAccessDays(filter, session)).days;
    const ofFirst = { clientId: one.clientId, appName: 'Pulse Diary', released: 2, refused: 1 };
    const ofSecond = { clientId: two.clientId, released: 1, refused: 0 };
    const all = await days({});
    expect(all).toHaveLength(2);
    expect(all).toEqual(
      expect.arrayContaining([expect.objectContaining(ofFirst), expect.objectContaining(ofSecond)]),
    );
    expect(await days({ clientId: two.clientId })).toMatchObject([ofSecond]);
    expect(await days({ grantId: first.grantId })).toMatchObject([ofFirst]);
    expect(await days({ scope: MOOD })).toMatchObject([{ released: 0, refused: 1 }]);
    const { date } = all[0]!;
    expect(await days({ from: date, to: date })).toHaveLength(2);
    expect(await days({ from: '2020-01-01', to: '2020-02-01' })).toEqual([]);
    const foreign = await approve(consent, one, 'other-days');
    await expect(days({ grantId: foreign.grantId })).rejects.toMatchObject({ reason: 'not_found' });
    await expect(days({ from: date })).rejects.toMatchObject({ reason: 'invalid_request' });
  });
});
