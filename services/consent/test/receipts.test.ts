import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { scopeTexts } from '@phds/catalog/scopes';
import { PendingStatus } from '@phds/contracts/phds/consent/v1/consent_pb';
import { AppStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { jwtVerify } from 'jose';
import {
  approve,
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

  test.each(['fr', 'de_AT', 'd', '-'])(
    'is never in a language without texts: an approval in %j is refused by name and decides nothing',
    async (language) => {
      const id = await openPending(consent, await registerApp(consent), [HEART]);
      const session = await consent.session('french');
      await expect(
        consent.asAuthorization.approve({ id, allRequested: true, language }, session),
      ).rejects.toMatchObject({
        reason: 'invalid_request',
        violations: [{ parameter: 'language', message: 'must be a tag of one of en, de' }],
      });
      const { pendingApproval } = await consent.asGateway.getPendingApproval({ id }, session);
      expect(pendingApproval?.status).toBe(PendingStatus.PENDING);
    },
  );

  test('of another person is not found', async () => {
    const { grantId } = await approve(consent, await registerApp(consent), 'keeper2');
    await expect(
      consent.asGateway.getReceipt({ grantId }, await consent.session('nosy')),
    ).rejects.toMatchObject({ reason: 'not_found' });
  });

  test('states that the app ended it', async () => {
    const app = await registerApp(consent);
    const { grantId } = await approve(consent, app, 'keeper3');
    await consent.ledger.setAppStatus({ clientId: app.clientId, status: AppStatus.REVOKED });
    const { receipt } = await consent.asGateway.getReceipt({ grantId }, await consent.session('keeper3'));
    const { payload } = await jwtVerify(receipt, consent.receiptPublicKey);
    expect(payload['events']).toMatchObject([{ event_state: 'given' }, { event_state: 'terminated' }]);
  });
});
