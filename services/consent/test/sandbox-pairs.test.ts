import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '@phds/service-kit/ids';
import {
  approve,
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

const CHECK_VIOLATION = '23514';

describe('a request of a sandbox app', () => {
  test('is not found by any person, not even by the developer of the app, in every way to decide it', async () => {
    const developer = newId('dev');
    const id = await openPending(consent, await registerApp(consent, developer, 'app_sandbox'));
    for (const person of ['ada', developer]) {
      const session = await consent.session(person);
      const { asGateway, asAuthorization } = consent;
      const ways: (() => Promise<unknown>)[] = [
        () => asGateway.getPendingApproval({ id }, session),
        () => asGateway.getPendingApproval({ id, withoutClaiming: true }, session),
        () => asAuthorization.approve({ id, allRequested: true }, session),
        () => asAuthorization.approve({ id, scopes: [HEART] }, session),
        () => asAuthorization.deny({ id }, session),
        () => asAuthorization.extendPendingApproval({ id }, session),
        () => asGateway.releasePendingApproval({ id }, session),
      ];
      for (const way of ways) await expect(way()).rejects.toMatchObject({ reason: 'not_found' });
      expect((await asGateway.listPendingApprovals({}, session)).total).toBe(0);
    }
    const { rows } = await consent.owner.query(
      'SELECT claimed_by, decision, grant_id FROM pending_approval WHERE id = $1',
      [id],
    );
    expect(rows).toEqual([{ claimed_by: null, decision: null, grant_id: null }]);
  });
});

describe('the database refuses', () => {
  test.each([
    ['a person', 'a sandbox app', 'ada', 'app_sandbox_1'],
    ['a sandbox person', 'a live app', 'sandbox:app_sandbox_1:ada', 'app_1'],
    ['a sandbox person', 'another sandbox app', 'sandbox:app_sandbox_1:ada', 'app_sandbox_12'],
  ])('a grant and a claim of %s for %s', async (_person, _app, userId, clientId) => {
    const { grantId } = await approve(consent, await registerApp(consent), newId('user'));
    const change = [userId, clientId, grantId];
    for (const statement of [
      'UPDATE consent_grant SET user_id = $1, client_id = $2 WHERE id = $3',
      'UPDATE pending_approval SET claimed_by = $1, client_id = $2 WHERE grant_id = $3',
    ]) {
      await expect(consent.owner.query(statement, change)).rejects.toMatchObject({ code: CHECK_VIOLATION });
    }
  });
});

test('a session of a sandbox person is refused', async () => {
  const session = await consent.session('sandbox:app_sandbox_1:ada');
  await expect(consent.asGateway.listGrants({}, session)).rejects.toMatchObject({ reason: 'unauthorized' });
});
