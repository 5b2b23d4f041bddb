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

// Fifty race in the tests of authorization. These are few enough to meet every deadline on a busy machine.
const MANY = 20;

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

async function open(scopes: readonly string[] = [HEART, PROFILE]): Promise<string> {
  return expectStatus(201, await app.authorize(scopes)).body.pending_id;
}

function deny(pendingId: string, at = app): Promise<Answer> {
  const url = `${at.gateway}/partner/consent/pending/${pendingId}/deny`;
  return send(url, { method: 'POST', bearer: session });
}

function grantUrl(grantId: string): string {
  return `${stack.gatewayUrls[1]}/partner/consent/grants/${grantId}`;
}

describe('one code', () => {
  test('is exchanged by exactly one of twenty requests, whose tokens are revoked once the others were refused', async () => {
    const { code, grantId } = await app.expectCode(session, [HEART]);
    const answers = await atOnce(MANY, (each) => each.exchange(code));
    expect(statusesOf(answers)).toEqual({ 200: 1, 400: MANY - 1 });
    const refused = answers.filter(({ status }) => status === 400);
    expect(new Set(refused.map(({ text }) => text)).size).toBe(1);
    await expectDead(toTokens(answers.find(({ status }) => status === 200) as Answer));
    // Only the family is revoked: the user's consent remains.
    const grant = expectStatus(200, await send(grantUrl(grantId), { bearer: session }));
    expect(grant.body.data.status).toBe('active');
  });

  test('never yields data when its exchange races with the revocation of its grant', async () => {
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
});

describe('one refresh token', () => {
  test('used twenty times at once returns the same pair twenty times, and both the pair and its successor work', async () => {
    let { refreshToken } = await app.connect(session, [HEART]);
    for (let round = 0; round < 2; round += 1) {
      const answers = await atOnce(MANY, (each) => each.refresh(refreshToken));
      expect(statusesOf(answers)).toEqual({ 200: MANY });
      const pairs = new Set(answers.map((answer) => JSON.stringify(toTokens(answer))));
      expect(pairs.size).toBe(1);
      const next = toTokens(answers[0] as Answer);
      expectStatus(200, await app.read(next.accessToken, HEART_PATH));
      ({ refreshToken } = next);
    }
  });

  test('refreshed while its family is revoked leaves no live token', async () => {
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
});

describe('one pending approval', () => {
  test('approved twenty times at once creates one grant and one code', async () => {
    const pendingId = await open();
    const answers = await atOnce(20, (each) => each.approveAs(session, pendingId));
    expect(statusesOf(answers)).toEqual({ 200: 20 });
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    const { redirectUri, grantId } = (answers[0] as Answer).body.data;
    const code = new URL(redirectUri).searchParams.get('code') ?? '';
    expect((await app.expectTokens(code)).grantId).toBe(grantId);
    expect((await app.approveAs(session, pendingId)).body.code).toBe('ALREADY_DECIDED');
  });

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

  test('several approvals of one user at once result in one grant with the scopes of all', async () => {
    const user = await signIn(stack, 'races-several');
    const scopes = [HEART, PROFILE, 'read:mood', 'read:weight', 'read:ehr'];
    const pending = await Promise.all(scopes.map((scope) => open([scope])));
    const answers = await Promise.all(pending.map((id) => app.approveAs(user, id)));
    expect(statusesOf(answers)).toEqual({ 200: scopes.length });
    const list = expectStatus(200, await send(`${stack.gateway}/partner/consent/grants`, { bearer: user }));
    expect(list.body.data).toHaveLength(1);
    expect([...list.body.data[0].scopes].sort()).toEqual([...scopes].sort());
  });
});

test('a request sent after a revocation never gets data, even under concurrent use', async () => {
  for (let round = 0; round < 2; round += 1) {
    const { accessToken, grantId } = await app.connect(session, [HEART]);
    let revokedAt = Number.POSITIVE_INFINITY;
    const revocation = send(grantUrl(grantId), { method: 'DELETE', bearer: session }).then((answer) => {
      revokedAt = performance.now();
      return answer;
    });
    const reads = atOnce(10, async (each) => {
      let last: Answer;
      let startedAt: number;
      do {
        startedAt = performance.now();
        last = await each.read(accessToken, HEART_PATH);
      } while (startedAt <= revokedAt && last.status === 200);
      return last;
    });
    expectStatus(200, await revocation);
    expect(statusesOf(await reads)).toEqual({ 401: 10 });
  }
});
