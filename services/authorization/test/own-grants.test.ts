import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { TokenStatus } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { AppStatus, GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { newId } from '@phds/service-kit/ids';
import { newSecret } from '@phds/service-kit/secrets';
import { HEART, reasonOf, refusalOf, SLEEP, shareHarness, type TestApp, toHash } from './harness.ts';

const harness = await shareHarness();

describe("an app's own grants", () => {
  let app: TestApp;

  beforeEach(async () => {
    app = await harness.registerApp();
  });

  const connect = async (userId = 'ada') =>
    harness.exchange(app, await harness.obtainCode(app, { approved: [HEART], userId }));
  const ownToken = async () =>
    (await harness.tokens.issueToken({ client: app, grantType: 'client_credentials' })).accessToken;
  const ownHash = async () => toHash(await ownToken());
  const listWith = (token: string) => harness.tokens.listOwnGrants({ tokenHash: toHash(token) });

  describe("the list of an app's own grants", () => {
    test('contains ids, subs, scopes, status and times, and no user', async () => {
      const issued = await connect();
      const list = async () => listWith(await ownToken());
      const { grants, total } = await list();
      expect(total).toBe(1);
      const { grantId: id, sub } = issued;
      expect(grants[0]).toMatchObject({ id, sub, scopes: [HEART], status: GrantStatus.ACTIVE, endedBy: '' });
      expect([grants[0]?.deletionRequestedAt, grants[0]?.endedAt]).toEqual([undefined, undefined]);
      const asked = harness.clock.now();
      const stored = harness.consent.grants.get(id)!;
      Object.assign(stored, { deletionRequestedAt: asked, dataFrom: '2026-01-01' });
      expect((await list()).grants[0]).toMatchObject({
        deletionRequestedAt: timestampFromDate(asked),
        dataFrom: '2026-01-01',
      });
      expect(JSON.stringify(grants, (_, value) => (typeof value === 'bigint' ? 0 : value))).not.toContain(
        'ada',
      );
    });

    test('can be restricted to a status and to a person', async () => {
      const [ada, ben] = [await connect('ada'), await connect('ben')];
      harness.consent.grants.get(ben.grantId)!.status = GrantStatus.REVOKED;
      const tokenHash = await ownHash();
      const idsOf = async (filter: { status?: GrantStatus; sub?: string }) =>
        (await harness.tokens.listOwnGrants({ tokenHash, ...filter })).grants.map(({ id }) => id);
      expect(await idsOf({ status: GrantStatus.ACTIVE })).toEqual([ada.grantId]);
      expect(await idsOf({ sub: ben.sub })).toEqual([ben.grantId]);
      expect(await idsOf({ sub: ben.sub, status: GrantStatus.ACTIVE })).toEqual([]);
    });

    test("is refused for a user's token, a dead one and an expired one, like reading and ending one grant", async () => {
      const { grantId: id, accessToken } = await connect();
      const refusals = async (token: string) => {
        const tokenHash = toHash(token);
        return [
          await reasonOf(listWith(token)),
          await reasonOf(harness.tokens.listOwnGrants({ tokenHash, grantId: id })),
          await reasonOf(harness.tokens.endOwnGrant({ tokenHash, id })),
        ];
      };
      const token = await ownToken();
      const refused = ['unauthorized', 'unauthorized', 'unauthorized'];
      expect(await refusals(accessToken)).toEqual(refused);
      expect(await refusals(newSecret('access_token'))).toEqual(refused);
      harness.clock.advance(3_600_000);
      expect(await refusals(token)).toEqual(['token_expired', 'token_expired', 'token_expired']);
      const revoked = await ownToken();
      await harness.tokens.revokeToken({ client: app, token: revoked });
      expect(await refusals(revoked)).toEqual(refused);
      expect(harness.consent.count('revokeAppGrant')).toBe(0);
    });
  });

  describe('one grant of an app', () => {
    test('is read by its id, and ended by the app with all of its tokens', async () => {
      const issued = await connect();
      const { grantId, sub } = issued;
      const tokenHash = await ownHash();
      const request = { tokenHash, id: grantId };
      const read = async () => (await harness.tokens.listOwnGrants({ tokenHash, grantId })).grants;
      await connect('ben');
      expect(await read()).toMatchObject([{ id: grantId, sub }]);
      const { revokedAt } = await harness.tokens.endOwnGrant(request);
      expect((await harness.introspect(issued.accessToken)).status).toBe(TokenStatus.DEAD);
      expect(await reasonOf(harness.refresh(app, issued.refreshToken))).toBe('invalid_grant');
      const ended = { status: GrantStatus.REVOKED, endedBy: 'app', endedAt: revokedAt };
      expect(await read()).toMatchObject([ended]);
      expect(await harness.tokens.endOwnGrant(request)).toMatchObject({ revokedAt });
    });

    test("is not found when it is unknown, malformed or another app's", async () => {
      const { grantId } = await connect();
      const owner = app;
      app = await harness.registerApp();
      const tokenHash = await ownHash();
      for (const id of [grantId, newId('grt'), 'grt', 'apr_1']) {
        expect(await reasonOf(harness.tokens.listOwnGrants({ tokenHash, grantId: id }))).toBe('not_found');
        expect(await reasonOf(harness.tokens.endOwnGrant({ tokenHash, id }))).toBe('not_found');
      }
      app = owner;
      const kept = await harness.tokens.listOwnGrants({ tokenHash: await ownHash(), grantId });
      expect(kept.grants[0]?.status).toBe(GrantStatus.ACTIVE);
    });

    test('is not said to be ended while consent does not confirm it', async () => {
      const { grantId: id } = await connect();
      const tokenHash = await ownHash();
      harness.consent.lost.add('revokeAppGrant');
      expect(await reasonOf(harness.tokens.endOwnGrant({ tokenHash, id }))).toBe('unavailable');
      harness.consent.lost.clear();
      expect((await harness.tokens.endOwnGrant({ tokenHash, id })).revokedAt).toBeDefined();
    });
  });

  describe('the sub of a person', () => {
    test('is in the answers to an exchange and a refresh and in introspection, the same each time', async () => {
      const issued = await connect();
      expect(issued.sub).toMatch(/^sub_/);
      const refreshed = await harness.refresh(app, issued.refreshToken);
      expect(refreshed.sub).toBe(issued.sub);
      // A repetition after a lost answer.
      expect((await harness.refresh(app, issued.refreshToken)).sub).toBe(issued.sub);
      for (const token of [refreshed.accessToken, refreshed.refreshToken]) {
        const answer = await harness.tokens.introspectOwnToken({ client: app, token });
        expect(answer).toMatchObject({ active: true, sub: issued.sub });
      }
    });
  });
});

describe('client credentials', () => {
  test('return an hour of a userless token without a refresh token', async () => {
    const app = await harness.registerApp();
    const issued = await harness.tokens.issueToken({ client: app, grantType: 'client_credentials' });
    expect(issued).toMatchObject({ expiresInSeconds: 3600, refreshToken: '', grantId: '', sub: '' });
    expect(issued.scope.split(' ')).toHaveLength(22);
    const { status, principal, assertion } = await harness.introspect(issued.accessToken);
    expect(status).toBe(TokenStatus.LIVE);
    expect(principal).toMatchObject({ userId: '', grantId: '', familyId: '' });
    expect(assertion).toBe('');
    const answer = await harness.tokens.introspectOwnToken({ client: app, token: issued.accessToken });
    expect(answer).toMatchObject({ active: true, sub: '' });
  });

  test('return registered scopes only', async () => {
    const client = await harness.registerApp({ scopes: [HEART] });
    const ask = (scope: string) =>
      harness.tokens.issueToken({ client, grantType: 'client_credentials', scope });
    expect((await ask(HEART)).scope).toBe(HEART);
    const refusals = [SLEEP, 'nonsense', 'patient/*.rs', `${'x'.repeat(80)}"<b>`, '"<b>'].map(
      async (scope) => {
        const { reason, message } = await refusalOf(ask(scope));
        return [reason, message];
      },
    );
    expect(await Promise.all(refusals)).toEqual([
      ['invalid_scope', `Not registered for the app: ${SLEEP}.`],
      ['invalid_scope', "Unknown scope: 'nonsense'."],
      ['invalid_scope', "Unknown scope: 'patient/*.rs'."],
      ['invalid_scope', `Unknown scope: '${'x'.repeat(64)}'.`],
      ['invalid_scope', "Unknown scope: '??b?'."],
    ]);
  });

  test('are refused once the ledger reports that the app is not active', async () => {
    const client = await harness.registerApp();
    harness.consent.apps.get(client.clientId)!.status = AppStatus.SUSPENDED;
    const issue = harness.tokens.issueToken({ client, grantType: 'client_credentials' });
    expect(await reasonOf(issue)).toBe('unauthorized');
  });
});
