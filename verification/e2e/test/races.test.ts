import { describe, expect, test } from '@jest/globals';
import { giveFirstReadings } from '@phds/running-system/ingestion';
import {
  expectStatus,
  type PartnerApp,
  registerApp,
  type Tokens,
  toTokens,
} from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { type Answer, send } from '@phds/running-system/request';
import { HEART, PROFILE } from '@phds/running-system/revocation-ways';
import { useSharedStack } from '@phds/running-system/shared-stack';
import { HEART_PATH } from '@phds/running-system/working-system';

const stack = await useSharedStack();
const session = await signIn(stack, 'races-ada');
const app = await registerApp(stack.gateway, session);
await giveFirstReadings(stack, ['races-ada']);

/** Starts all of them at once, alternating between the gateways. */
function atOnce(times: number, run: (app: PartnerApp) => Promise<Answer>): Promise<Answer[]> {
  const both = stack.gatewayUrls.map((gateway) => app.at(gateway));
  return Promise.all(Array.from({ length: times }, (_, index) => run(both[index % 2] as PartnerApp)));
}

function statusesOf(answers: readonly Answer[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

async function expectDead({ accessToken, refreshToken }: Tokens): Promise<void> {
  for (const answer of await atOnce(2, (each) => each.read(accessToken, HEART_PATH))) {
    expectStatus(401, answer);
  }
  expect(expectStatus(400, await app.refresh(refreshToken)).body.error).toBe('invalid_grant');
}

async function open(): Promise<string> {
  return expectStatus(201, await app.authorize([HEART, PROFILE])).body.pending_id;
}

function deny(pendingId: string, at = app): Promise<Answer> {
  const url = `${at.gateway}/partner/consent/pending/${pendingId}/deny`;
  return send(url, { method: 'POST', bearer: session });
}

function grantUrl(grantId: string): string {
  return `${stack.gatewayUrls[1]}/partner/consent/grants/${grantId}`;
}

test('a code never yields data when its exchange races with the revocation of its grant', async () => {
  for (let round = 0; round < 4; round += 1) {
    const { code, grantId } = await app.expectCode(session, [HEART]);
    const [exchange, revocation] = await Promise.all([
      app.exchange(code),
      send(grantUrl(grantId), { method: 'DELETE', bearer: session }),
    ]);
    expectStatus(200, revocation);
    if (exchange.status === 200) await expectDead(toTokens(exchange));
    else expect(expectStatus(400, exchange).body.error).toBe('invalid_grant');
    expect((await app.exchange(code)).status).toBe(400);
  }
});

test('a refresh token that is refreshed while its family is revoked leaves no live token', async () => {
  for (let round = 0; round < 4; round += 1) {
    const held = await app.connect(session, [HEART]);
    const [refresh, revocation] = await Promise.all([
      app.refresh(held.refreshToken),
      app.at(stack.gatewayUrls[1] as string).revoke(held.refreshToken),
    ]);
    expectStatus(200, revocation);
    await expectDead(held);
    if (refresh.status === 200) await expectDead(toTokens(refresh));
    else expectStatus(400, refresh);
  }
});

describe('one pending approval', () => {
  test('is either approved or denied, never both', async () => {
    const outcomes: string[] = [];
    for (let round = 0; round < 4; round += 1) {
      const pendingId = await open();
      const [approvals, denials] = await Promise.all([
        atOnce(4, (each) => each.approveAs(session, pendingId)),
        atOnce(4, (each) => deny(pendingId, each)),
      ]);
      const approved = statusesOf(approvals)[200] ?? 0;
      expect(statusesOf(approvals)).toEqual(approved > 0 ? { 200: 4 } : { 409: 4 });
      expect(statusesOf(denials)).toEqual(approved > 0 ? { 409: 4 } : { 200: 4 });
      outcomes.push(approved > 0 ? 'approved' : 'denied');
      const url = `${stack.gateway}/partner/consent/pending/${pendingId}`;
      const { status } = expectStatus(200, await send(url, { bearer: session })).body.data;
      expect(status).toBe(outcomes.at(-1));
    }
  });

  test('approved by two people at once belongs to one of them and is invisible to the other', async () => {
    const other = await signIn(stack, 'races-grace');
    for (let round = 0; round < 4; round += 1) {
      const pendingId = await open();
      const answers = await Promise.all([
        app.approveAs(session, pendingId),
        app.at(stack.gatewayUrls[1] as string).approveAs(other, pendingId),
      ]);
      expect(statusesOf(answers)).toEqual({ 200: 1, 404: 1 });
    }
  });
});
