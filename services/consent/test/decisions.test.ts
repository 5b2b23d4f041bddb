import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  GLUCOSE,
  HEART,
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

const approveAll = async (id: string, userId: string) =>
  consent.asAuthorization.approve({ id, allRequested: true }, await consent.session(userId));
const deny = async (id: string, userId: string) =>
  consent.asAuthorization.deny({ id }, await consent.session(userId));

describe('a decision', () => {
  test('made 20 times at once creates one grant and returns one result', async () => {
    const id = await openPending(consent, await registerApp(consent));
    const answers = await Promise.all(Array.from({ length: 20 }, () => approveAll(id, 'eager')));
    expect(new Set(answers.map(({ grantId }) => grantId)).size).toBe(1);
    expect(new Set(answers.map(({ grantExpiresAt }) => String(grantExpiresAt?.seconds))).size).toBe(1);
    expect(answers.filter(({ repeatedDecision }) => !repeatedDecision)).toHaveLength(1);
    const { rows } = await consent.owner.query(
      `SELECT count(*)::int AS n FROM consent_grant WHERE user_id = 'eager'`,
    );
    expect(rows).toEqual([{ n: 1 }]);
  });

  test('about a scope that this release does not have records the name of the scope', async () => {
    const id = await openPending(consent, await registerApp(consent));
    await consent.owner.query(
      `UPDATE pending_approval SET scopes = scopes || '{read:tomorrow}' WHERE id = $1`,
      [id],
    );
    const { grantId } = await approveAll(id, 'early');
    const { rows } = await consent.owner.query('SELECT shown FROM consent_event WHERE grant_id = $1', [
      grantId,
    ]);
    expect(rows[0].shown).toContainEqual({ scope: 'read:tomorrow', title: 'read:tomorrow', description: '' });
  });

  test('made twice with different choices is already decided', async () => {
    const id = await openPending(consent, await registerApp(consent));
    const session = await consent.session('fickle');
    await approveAll(id, 'fickle');
    const others = [{ scopes: [HEART] }, { allRequested: true, expiresInDays: 30 }];
    for (const other of [...others, { allRequested: true, dataFrom: '2026-01-01' }]) {
      await expect(consent.asAuthorization.approve({ id, ...other }, session)).rejects.toMatchObject({
        reason: 'already_decided',
      });
    }
    await expect(deny(id, 'fickle')).rejects.toMatchObject({ reason: 'already_decided' });
    const everyScope = { id, scopes: [GLUCOSE, HEART], expiresInDays: 90 };
    expect((await consent.asAuthorization.approve(everyScope, session)).repeatedDecision).toBe(true);
  });

  test('to deny may be repeated and cannot become an approval', async () => {
    const id = await openPending(consent, await registerApp(consent));
    const first = await deny(id, 'wary');
    expect(await deny(id, 'wary')).toEqual(first);
    await expect(approveAll(id, 'wary')).rejects.toMatchObject({ reason: 'already_decided' });
  });

  test('on two concurrent requests leaves one grant with the scopes of both', async () => {
    const twice = await registerApp(consent);
    const ids = [await openPending(consent, twice, [HEART]), await openPending(consent, twice, [GLUCOSE])];
    const answers = await Promise.all(ids.map((id) => approveAll(id, 'both')));
    expect(answers[0]?.grantId).toBe(answers[1]?.grantId);
    const { rows } = await consent.owner.query(`SELECT scopes FROM consent_grant WHERE user_id = 'both'`);
    expect(rows).toEqual([{ scopes: [HEART, GLUCOSE] }]);
  });

  test('requires a valid session', async () => {
    const id = await openPending(consent, await registerApp(consent));
    await expect(consent.asAuthorization.approve({ id, allRequested: true })).rejects.toMatchObject({
      reason: 'unauthorized',
    });
    await expect(
      consent.asAuthorization.approve({ id, allRequested: true }, { headers: { 'phds-session': 'garbage' } }),
    ).rejects.toMatchObject({ reason: 'unauthorized' });
  });
});
