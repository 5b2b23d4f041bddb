import { describe, expect, test } from '@jest/globals';
import { scopeTexts } from '@phds/catalog/scopes';
import { PendingStatus } from '@phds/contracts/phds/consent/v1/consent_pb';
import { AppStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { newId } from '@phds/service-kit/ids';
import { jwtVerify } from 'jose';
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
const app = await registerApp(consent);

const approveAll = (id: string, userId: string) => consent.as(userId).approve({ id, allRequested: true });

describe('a decision', () => {
  test('made 20 times at once creates one grant and returns one result', async () => {
    const id = await openPending(consent, await registerApp(consent));
    const answers = await Promise.all(Array.from({ length: 20 }, () => approveAll(id, 'eager')));
    expect(new Set(answers.map(({ grantId }) => grantId)).size).toBe(1);
    expect(new Set(answers.map(({ grantExpiresAt }) => String(grantExpiresAt?.seconds))).size).toBe(1);
    expect(answers.filter(({ repeatedDecision }) => !repeatedDecision)).toHaveLength(1);
    const rows = await consent.rows(`SELECT count(*)::int AS n FROM consent_grant WHERE user_id = 'eager'`);
    expect(rows).toEqual([{ n: 1 }]);
  });

  test('about a scope that this release does not have records the name of the scope', async () => {
    const id = await openPending(consent, await registerApp(consent));
    await consent.owner.query(
      `UPDATE pending_approval SET scopes = scopes || '{read:tomorrow}' WHERE id = $1`,
      [id],
    );
    const { grantId } = await approveAll(id, 'early');
    const rows = await consent.rows('SELECT shown FROM consent_event WHERE grant_id = $1', grantId);
    expect(rows[0].shown).toContainEqual({ scope: 'read:tomorrow', title: 'read:tomorrow', description: '' });
  });

  test('on two concurrent requests leaves one grant with the scopes of both', async () => {
    const twice = await registerApp(consent);
    const ids = [await openPending(consent, twice, [HEART]), await openPending(consent, twice, [GLUCOSE])];
    const answers = await Promise.all(ids.map((id) => approveAll(id, 'both')));
    expect(answers[0]?.grantId).toBe(answers[1]?.grantId);
    expect(await consent.rows(`SELECT scopes FROM consent_grant WHERE user_id = 'both'`)).toEqual([
      { scopes: [HEART, GLUCOSE] },
    ]);
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

/** What the approval screen of a request shows. */
async function look(id: string, userId: string) {
  const { pendingApproval } = await consent.as(userId).getPendingApproval({ id });
  if (pendingApproval === undefined) throw new Error('no pending approval');
  return pendingApproval;
}

const decide = (userId: string, decision: Parameters<RunningService['asAuthorization']['approve']>[0]) =>
  consent.as(userId).approve(decision);

async function grantOf(id: string, userId: string) {
  const [grant] = (await consent.as(userId).listGrants({ grantId: id })).grants;
  if (grant === undefined) throw new Error('no grant');
  return grant;
}

describe('the approval screen', () => {
  test('shows the live grant that an approval would join, under the name by which it was approved', async () => {
    const renamed = await registerApp(consent);
    const first = await approve(consent, renamed, 'sharer', {
      requested: [MOOD, HEART],
      days: 30,
      dataFrom: '2026-01-01',
    });
    const broker = { ...renamed, name: 'Data Broker' };
    const shown = await look(await openPending(consent, broker, [GLUCOSE, HEART]), 'sharer');
    expect(shown.connection).toMatchObject({
      grantId: first.grantId,
      appName: 'Pulse Diary',
      scopes: [HEART, MOOD],
      expiresAt: first.grantExpiresAt,
      dataFrom: '2026-01-01',
    });
    expect(shown.app?.name).toBe('Data Broker');
    expect(shown.requestedScopes.map(({ alreadyShared }) => alreadyShared)).toEqual([true, false]);
  });

  test('shows no live grant to a person who shares nothing with the app, or has stopped', async () => {
    const id = await openPending(consent, app);
    const before = await look(id, 'stopper');
    expect(before.connection).toBeUndefined();
    const { grantId } = await approve(consent, app, 'stopper');
    expect((await look(id, 'stopper')).connection).toMatchObject({ grantId, dataFrom: '' });
    await consent.as('stopper').revokeGrant({ id: grantId });
    const after = await look(id, 'stopper');
    expect(after.connection).toBeUndefined();
    expect(after.revision).toBe(before.revision);
  });

  test('shows no live grant in its last seconds, because an approval would not join it', async () => {
    const { grantId } = await approve(consent, app, 'last');
    await consent.owner.query(`UPDATE consent_grant SET expires_at = now() + '10 seconds' WHERE id = $1`, [
      grantId,
    ]);
    const id = await openPending(consent, app);
    const { connection, revision, requestedScopes } = await look(id, 'last');
    expect(connection).toBeUndefined();
    expect(requestedScopes.some(({ alreadyShared }) => alreadyShared)).toBe(false);
    expect((await decide('last', { id, allRequested: true, revision })).grantId).not.toBe(grantId);
  });

  test('has the same revision until the terms change, also in the list', async () => {
    await approve(consent, app, 'steady');
    const id = await openPending(consent, app);
    const { revision } = await look(id, 'steady');
    expect((await look(id, 'steady')).revision).toBe(revision);
    expect((await look(await openPending(consent, app, [MOOD]), 'steady')).revision).toBe(revision);
    const session = await consent.session('steady');
    const { pendingApprovals } = await consent.asGateway.listPendingApprovals(
      { status: PendingStatus.PENDING },
      session,
    );
    expect(pendingApprovals.map((pending) => pending.revision)).toEqual([revision, revision]);
  });
});

describe('a decision about terms that have changed since they were shown', () => {
  test('is refused and changes nothing', async () => {
    const { grantId } = await approve(consent, app, 'outdated', { dataFrom: '2026-01-01' });
    const id = await openPending(consent, app, [GLUCOSE]);
    const shown = await look(id, 'outdated');
    // Another tab.
    await consent.as('outdated').narrowGrant({ id: grantId, setScopes: true, scopes: [HEART] });
    const grant = await grantOf(grantId, 'outdated');
    const stale = { id, allRequested: true, expiresInDays: 365, revision: shown.revision };
    await expect(decide('outdated', stale)).rejects.toMatchObject({
      reason: 'conflict',
      message: expect.stringContaining('has changed since this page showed it'),
    });
    expect(await grantOf(grantId, 'outdated')).toEqual(grant);
    const { status, revision } = await look(id, 'outdated');
    expect(status).toBe(PendingStatus.PENDING);
    expect((await decide('outdated', { ...stale, revision })).grantId).toBe(grantId);
  });
});

test.each([
  ['revision', { revision: 'x'.repeat(129) }, 'must have at most 128 characters'],
  ['language', { language: 'fr' }, 'must be a tag of one of en, de'],
])(
  'an approval with a %s that cannot be one is refused by name and decides nothing',
  async (parameter, choice, message) => {
    const id = await openPending(consent, app, [HEART]);
    await expect(decide('refused', { id, allRequested: true, ...choice })).rejects.toMatchObject({
      reason: 'invalid_request',
      violations: [{ parameter, message }],
    });
    expect((await look(id, 'refused')).status).toBe(PendingStatus.PENDING);
  },
);

describe('of several approvals at once that were shown the same terms', () => {
  const approveAtOnce = async (userId: string, requests: readonly string[][]) => {
    const ids: string[] = [];
    for (const scopes of requests) ids.push(await openPending(consent, app, scopes));
    const revisions = await Promise.all(ids.map(async (id) => (await look(id, userId)).revision));
    expect(new Set(revisions).size).toBe(1);
    const outcomes = await Promise.allSettled(
      ids.map((id, index) => decide(userId, { id, allRequested: true, revision: revisions[index] ?? '' })),
    );
    const refusals = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    return { outcomes, refusals };
  };

  test.each(['without a grant', 'with a grant'])(
    'exactly one wins, and the others are refused, %s',
    async (how) => {
      const userId = newId('usr');
      if (how === 'with a grant') await approve(consent, app, userId, { requested: [MOOD] });
      const { outcomes, refusals } = await approveAtOnce(userId, [
        [HEART],
        [GLUCOSE],
        [HEART, GLUCOSE],
        [MOOD],
      ]);
      expect(refusals).toEqual(Array(3).fill(expect.objectContaining({ reason: 'conflict' })));
      const { grants } = await consent.as(userId).listGrants({});
      const [won] = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
      const scopes = [...(won?.scopes ?? []), ...(how === 'with a grant' ? [MOOD] : [])];
      expect(grants.map((grant) => [grant.id, new Set(grant.scopes)])).toEqual([
        [won?.grantId, new Set(scopes)],
      ]);
    },
  );

  test('an approval and a denial at once, however often, leave one of them', async () => {
    const deny = (id: string) => consent.as('torn').deny({ id });
    for (let round = 0; round < 5; round += 1) {
      const id = await openPending(consent, app, [HEART]);
      const four = (decideOnce: (id: string) => Promise<unknown>) =>
        Promise.allSettled(Array.from({ length: 4 }, () => decideOnce(id)));
      const outcomes = await Promise.all([four((each) => approveAll(each, 'torn')), four(deny)]);
      const made = outcomes.map((each) => new Set(each.map(({ status }) => status)));
      expect(made.map((each) => each.size)).toEqual([1, 1]);
      expect(new Set(made.flatMap((each) => [...each]))).toEqual(new Set(['fulfilled', 'rejected']));
    }
  });

  test('of two people who approve one request at once, one has it and the other does not find it', async () => {
    for (let round = 0; round < 5; round += 1) {
      const id = await openPending(consent, app, [HEART]);
      const outcomes = await Promise.allSettled([approveAll(id, 'torn'), approveAll(id, 'rival')]);
      const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
      expect(refused).toEqual([expect.objectContaining({ reason: 'not_found' })]);
    }
  });
});

describe('a receipt', () => {
  test('is a signed statement of what was shown, to whom, for how long, and of later changes', async () => {
    const app = await registerApp(consent);
    const { grantId } = await approve(consent, app, 'keeper', { days: 30 });
    const session = await consent.session('keeper');
    await consent.asGateway.narrowGrant({ id: grantId, setScopes: true, scopes: [HEART] }, session);
    await consent.asGateway.revokeGrant({ id: grantId }, session);
    const { receipt } = await consent.asGateway.getReceipt({ grantId }, session);
    const { payload, protectedHeader } = await jwtVerify(receipt, consent.receiptPublicKey, {
      typ: 'consent-receipt+jwt',
    });
    expect(protectedHeader).toMatchObject({ alg: 'EdDSA', kid: expect.any(String) });
    expect(payload).toMatchObject({
      record_id: grantId,
      pii_principal_id: 'keeper',
      privacy_notice: 'https://pulse.test/privacy',
      language: 'en',
      party_identification: [{ party_id: app.clientId, party_name: 'Pulse Diary' }],
      purposes: [
        {
          purpose: 'Draw your pulse.',
          pii_information: [{ pii_type: HEART, pii_title: 'Heart' }, { pii_type: GLUCOSE }],
        },
      ],
      events: [
        { event_state: 'given', validity_duration: 'PT2592000S', pii_types: [HEART, GLUCOSE] },
        { event_state: 'narrowed', pii_types: [HEART] },
        { event_state: 'withdrawn', validity_duration: 'PT0S', pii_types: [] },
      ],
    });
  });

  test('has the texts of the language that was on the screen', async () => {
    const id = await openPending(consent, await registerApp(consent), [HEART]);
    const session = await consent.session('german');
    const { grantId } = await consent.asAuthorization.approve(
      { id, allRequested: true, language: 'de-AT' },
      session,
    );
    const { receipt } = await consent.asGateway.getReceipt({ grantId }, session);
    const { payload } = await jwtVerify(receipt, consent.receiptPublicKey);
    const { title, description } = scopeTexts('de')[HEART];
    const information = { pii_type: HEART, pii_title: title, pii_description: description };
    expect(payload).toMatchObject({
      language: 'de',
      purposes: [{ language: 'de', pii_information: [information] }],
    });
  });

  test('of another person is not found', async () => {
    const { grantId } = await approve(consent, await registerApp(consent), 'keeper2');
    await expect(consent.as('nosy').getReceipt({ grantId })).rejects.toMatchObject({ reason: 'not_found' });
  });

  test('states that the app ended it', async () => {
    const app = await registerApp(consent);
    const { grantId } = await approve(consent, app, 'keeper3');
    await consent.ledger.setAppStatus({ clientId: app.clientId, status: AppStatus.REVOKED });
    const { receipt } = await consent.as('keeper3').getReceipt({ grantId });
    const { payload } = await jwtVerify(receipt, consent.receiptPublicKey);
    expect(payload['events']).toMatchObject([{ event_state: 'given' }, { event_state: 'terminated' }]);
  });
});
