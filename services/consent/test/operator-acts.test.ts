import { timestampMs } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from '@jest/globals';
import type { AppError } from '@phds/service-kit/errors';
import { approve, registerApp, shareConsent } from './running-service.ts';
import { verifyRecords } from './verify-command.ts';

const consent = await shareConsent();
const app = await registerApp(consent);

const NOTHING = {
  userId: '',
  clientId: '',
  grantId: '',
  reason: 'a request by phone',
  requestId: 'r1',
  changes: true,
};
const act = (about: Partial<typeof NOTHING>, rpc = 'phds.authorization.v1.AppOperatorService/SuspendApp') =>
  consent.acts.asHealthData.beginAct({ operator: 'on-call', rpc, ...NOTHING, ...about });
const listOwn = async (userId: string) => (await consent.as(userId).listOwnActs({})).acts;

const reasonOf = (call: Promise<unknown>) =>
  call.then(
    () => 'none',
    (error: AppError) => error.reason,
  );

/** The whole record, read at once. */
async function read() {
  const { acts } = await consent.acts.asOperator.listActs({});
  return acts.map(({ number, at, ends, ...entry }) => ({
    ...entry,
    number: Number(number),
    ends: Number(ends),
    at: at === undefined ? 0 : timestampMs(at),
  }));
}

describe("the operators' record", () => {
  test('has an act of another service before it begins, then its outcome, which verify', async () => {
    const { number } = await act({ clientId: app.clientId });
    await consent.acts.asHealthData.endAct({ number, outcome: 'CONFLICT' });
    const entries = await read();
    expect(entries.filter((entry) => [entry.number, entry.ends].includes(Number(number)))).toMatchObject([
      {
        operator: 'on-call',
        clientId: app.clientId,
        reason: 'a request by phone',
        requestId: 'r1',
        ends: 0,
        outcome: '',
      },
      { operator: '', rpc: '', ends: Number(number), outcome: 'CONFLICT' },
    ]);
    expect(await verifyRecords(consent)).toMatchObject({ ok: true, acts: entries.length });
  });

  test('has one outcome of an act, which may be told again', async () => {
    const { number } = await act({ clientId: app.clientId });
    const end = (outcome: string) => consent.acts.asHealthData.endAct({ number, outcome });
    await end('FAILED');
    await end('FAILED');
    expect(await reasonOf(end('OK'))).toBe('not_found');
    expect((await read()).filter(({ ends }) => ends === Number(number))).toHaveLength(1);
    const another = `INSERT INTO consent_audit.operator_act
      SELECT number + 1000, at, operator, rpc, user_ref, client_id, grant_id, reason, request_id, ends, 'OK', hash
      FROM consent_audit.operator_act WHERE ends = $1`;
    await expect(consent.owner.query(another, [number])).rejects.toMatchObject({ code: '23505' });
  });

  test('numbers acts at the same time without gaps', async () => {
    const before = (await read()).length;
    await Promise.all(Array.from({ length: 20 }, () => act({})));
    const entries = await read();
    expect(entries.map(({ number }) => number)).toEqual(Array.from(entries, (_, index) => index + 1));
    // Reading is an act too.
    expect(entries.length).toBe(before + 21);
  });

  test('has the reason of a call by an operator, and refuses a change without one', async () => {
    const userId = 'reasons';
    await approve(consent, app, userId);
    await consent.asOperator.eraseUser({ userId });
    const [erasure, outcome] = (await read()).slice(-3);
    expect(erasure).toMatchObject({
      operator: 'on-call',
      rpc: 'phds.consent.v1.ConsentService/EraseUser',
      reason: 'a test',
    });
    expect(outcome).toMatchObject({ ends: erasure?.number, outcome: 'OK' });
    const without = consent.asOperator.eraseUser({ userId }, { headers: { 'phds-reason': '' } });
    expect(await reasonOf(without)).toBe('invalid_request');
    const tooLong = consent.asOperator.eraseUser({ userId }, { headers: { 'phds-reason': 'x'.repeat(501) } });
    expect(await reasonOf(tooLong)).toBe('invalid_request');
  });

  test('refuses the outcome of an act that it does not have', async () => {
    const outcomes = [0n, 1_000_000n, 2n ** 64n - 1n].map((number) =>
      reasonOf(consent.acts.asHealthData.endAct({ number, outcome: 'OK' })),
    );
    expect(await Promise.all(outcomes)).toEqual(['not_found', 'not_found', 'not_found']);
  });
});

describe('the acts of a command', () => {
  const inCommand = (command: string) => ({ headers: { 'x-request-id': command } });
  const eraseElsewhere = async (service: 'authorization' | 'healthdata', requestId: string) => {
    const name = service === 'authorization' ? 'AuthorizationService' : 'IngestionService';
    const { number } = await act({ userId: 'certified', requestId }, `phds.${service}.v1.${name}/EraseUser`);
    return () => consent.acts.asHealthData.endAct({ number, outcome: 'OK' });
  };
  const completed = async (command: string) =>
    (await consent.people.listCompletedActs({}, inCommand(command))).acts;

  test('are named with their outcomes when they have succeeded, to the command that made them', async () => {
    await approve(consent, app, 'certified');
    await (await eraseElsewhere('authorization', 'c1'))();
    await consent.asOperator.eraseUser({ userId: 'certified' }, inCommand('c1'));
    const end = await eraseElsewhere('healthdata', 'c1');
    expect((await completed('c1')).map(({ rpc }) => rpc)).toEqual([
      'phds.authorization.v1.AuthorizationService/EraseUser',
      'phds.consent.v1.ConsentService/EraseUser',
    ]);
    await end();
    expect(await completed('c2')).toEqual([]);
    const entries = await read();
    const acts = await completed('c1');
    expect(acts).toHaveLength(3);
    for (const { number, hash, outcomeNumber, outcomeHash } of acts) {
      const [first, last] = [number, outcomeNumber].map((each) => entries[Number(each) - 1]);
      expect(first).toMatchObject({ requestId: 'c1', operator: 'on-call', hash });
      expect(last).toMatchObject({ ends: Number(number), outcome: 'OK', hash: outcomeHash });
    }
  });
});

describe('a person', () => {
  test('sees the acts on them and on their grants, newest first, and no others', async () => {
    const { grantId } = await approve(consent, app, 'seen');
    await approve(consent, app, 'others');
    await act({ userId: 'seen' }, 'phds.authorization.v1.AppOperatorService/AddDeveloper');
    await act({ grantId }, 'phds.consent.v1.GrantService/EndGrant');
    await act({ userId: 'others' });
    expect(await listOwn('seen')).toMatchObject([
      {
        rpc: 'phds.consent.v1.GrantService/EndGrant',
        clientId: app.clientId,
        appName: 'Pulse Diary',
      },
      { rpc: 'phds.authorization.v1.AppOperatorService/AddDeveloper', appName: '' },
    ]);
    expect(await listOwn('nobody')).toEqual([]);
  });

  test('has their downloads in the record, also without a grant, and others do not see them', async () => {
    const before = (await read()).length;
    const { number } = await consent.as('downloads').beginDownload({ requestId: 'r2' });
    const entry = (await read())[before];
    expect(entry).toMatchObject({
      number: Number(number),
      operator: '',
      userId: 'downloads',
      requestId: 'r2',
      ends: 0,
    });
    expect(await listOwn('downloads')).toMatchObject([
      { number, rpc: 'phds.consent.v1.OperatorActService/BeginDownload', appName: '' },
    ]);
    expect(await listOwn('seen')).not.toContainEqual(expect.objectContaining({ number }));
    expect(await verifyRecords(consent)).toMatchObject({ ok: true });
  });

  test('is no longer named by the record after an erasure, which does not name them again', async () => {
    await approve(consent, app, 'erased');
    const { number } = await act({ userId: 'erased' });
    await consent.asOperator.eraseUser({ userId: 'erased' });
    await act({ userId: 'erased' }, 'phds.healthdata.v1.IngestionService/EraseUser');
    const entries = await read();
    expect(entries.find((entry) => entry.number === Number(number))).toMatchObject({
      userId: '',
      userRef: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(entries.at(-2)).toMatchObject({
      rpc: 'phds.healthdata.v1.IngestionService/EraseUser',
      userRef: '',
    });
    const { rowCount } = await consent.owner.query("SELECT 1 FROM person WHERE user_id = 'erased'");
    expect(rowCount).toBe(0);
  });
});
