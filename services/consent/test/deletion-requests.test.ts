import { timestampDate } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Verdict } from '@phds/contracts/phds/consent/v1/access_pb';
import { GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { newId } from '@phds/service-kit/ids';
import { decodeJwt } from 'jose';
import {
  accessOf,
  approve,
  type RegisteredApp,
  type RunningService,
  record,
  registerApp,
  startConsent,
} from './running-service.ts';

let consent: RunningService;
let app: RegisteredApp;

beforeAll(async () => {
  consent = await startConsent();
  app = await registerApp(consent);
});
afterAll(() => consent[Symbol.asyncDispose]());

const request = async (grantId: string, userId: string) =>
  consent.asGateway.requestDeletion({ grantId }, await consent.session(userId));
const grantOf = async (id: string, userId: string) =>
  (await consent.asGateway.getGrant({ id }, await consent.session(userId))).grant;
const eventsOf = async (grantId: string, userId: string) => {
  const { receipt } = await consent.asGateway.getReceipt({ grantId }, await consent.session(userId));
  return decodeJwt<{ events: Record<string, unknown>[] }>(receipt).events;
};

describe('a request for deletion', () => {
  test('has the time of the first one, also when several arrive at once, and ends nothing', async () => {
    const grant = await approve(consent, app, 'asker');
    expect((await grantOf(grant.grantId, 'asker'))?.deletionRequestedAt).toBeUndefined();
    const answers = await Promise.all(Array.from({ length: 5 }, () => request(grant.grantId, 'asker')));
    const { deletionRequestedAt } = await request(grant.grantId, 'asker');
    expect(answers).toEqual(Array(5).fill(expect.objectContaining({ deletionRequestedAt })));
    expect(await grantOf(grant.grantId, 'asker')).toMatchObject({
      status: GrantStatus.ACTIVE,
      deletionRequestedAt,
    });
    expect(await record(consent, accessOf(grant))).toBe(Verdict.RELEASED);
    const states = (await eventsOf(grant.grantId, 'asker')).map(({ event_state }) => event_state);
    expect(states).toEqual(['given', 'deletion requested']);
  });

  test('can be made after the grant has ended, and is on the receipt after its end', async () => {
    const { grantId } = await approve(consent, app, 'late');
    // Expiry is an event of the receipt, but not a stored one.
    await consent.owner.query('UPDATE consent_grant SET expires_at = now() WHERE id = $1', [grantId]);
    const { deletionRequestedAt } = await request(grantId, 'late');
    const events = await eventsOf(grantId, 'late');
    expect(events.map(({ event_state }) => event_state)).toEqual(['given', 'expired', 'deletion requested']);
    expect(events.at(-1)).toEqual({
      event_time: timestampDate(deletionRequestedAt!).toISOString(),
      event_type: 'explicit',
      event_state: 'deletion requested',
      validity_duration: null,
      pii_types: [],
      pii_since: null,
    });
    expect((await grantOf(grantId, 'late'))?.status).toBe(GrantStatus.EXPIRED);
  });

  test('is visible to the app, without the person', async () => {
    const own = await registerApp(consent);
    const asked = await approve(consent, own, 'visible');
    await approve(consent, own, 'silent');
    const { deletionRequestedAt } = await request(asked.grantId, 'visible');
    const { grants } = await consent.asAuthorization.listAppGrants({ clientId: own.clientId });
    expect(grants.map((grant) => grant.deletionRequestedAt)).toEqual([undefined, deletionRequestedAt]);
    expect(
      JSON.stringify(grants, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
    ).not.toContain('visible');
  });

  test('for another person’s or an unknown grant is not found and changes nothing', async () => {
    const { grantId } = await approve(consent, app, 'owner');
    for (const id of [grantId, newId('grt'), 'x']) {
      await expect(request(id, 'nosy')).rejects.toMatchObject({ reason: 'not_found' });
    }
    expect((await grantOf(grantId, 'owner'))?.deletionRequestedAt).toBeUndefined();
  });
});
