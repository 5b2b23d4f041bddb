import { describe, expect, test } from '@jest/globals';
import { TokenStatus } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import type { FakeGrant } from './fake-consent.ts';
import { codeOf, HEART, REDIRECT_URI, reasonOf, refusalOf, SLEEP, shareHarness } from './harness.ts';

const harness = await shareHarness();
const app = await harness.registerApp();

describe('withdrawals', () => {
  const BOTH = `${HEART} ${SLEEP}`;

  const lastGrant = (): FakeGrant => [...harness.consent.grants.values()].at(-1)!;
  /** The scopes that the person leaves to the app, out of heart and sleep. */
  const leave = (...scopes: string[]) => {
    lastGrant().scopes = scopes;
  };
  const start = async () => harness.exchange(app, await harness.obtainCode(app));
  const introspectOwn = (token: string) => harness.tokens.introspectOwnToken({ client: app, token });

  describe('a scope that the grant has lost', () => {
    test.each([
      ['without scope', undefined],
      ['with the same scope', BOTH],
    ])(
      'is absent from the response of a refresh that is repeated %s after the withdrawal',
      async (_, scope) => {
        const first = await start();
        const second = await harness.refresh(app, first.refreshToken, scope);
        expect(second.scope).toBe(BOTH);
        leave(SLEEP);
        const again = await harness.refresh(app, first.refreshToken, scope);
        expect([again.accessToken, again.refreshToken, again.scope]).toEqual([
          second.accessToken,
          second.refreshToken,
          SLEEP,
        ]);
        expect((await harness.refresh(app, again.refreshToken)).scope).toBe(SLEEP);
      },
    );

    test('stays a scope of the tokens, so that a read is refused for lack of consent, not of scope', async () => {
      const first = await start();
      leave(SLEEP);
      const second = await harness.refresh(app, first.refreshToken);
      for (const { accessToken } of [first, second]) {
        const { status, principal } = await harness.introspect(accessToken);
        expect(status).toBe(TokenStatus.LIVE);
        expect(principal?.scopes).toEqual([HEART, SLEEP]);
        expect(principal?.grant?.scopes).toEqual([SLEEP]);
      }
    });

    test('is refused as invalid_scope when a refresh names it, without effect', async () => {
      const first = await start();
      leave(SLEEP);
      expect(await reasonOf(harness.refresh(app, first.refreshToken, HEART))).toBe('invalid_scope');
      expect(await reasonOf(harness.refresh(app, first.refreshToken, BOTH))).toBe('invalid_scope');
      const second = await harness.refresh(app, first.refreshToken, SLEEP);
      expect(second.scope).toBe(SLEEP);
      leave();
      expect(await reasonOf(harness.refresh(app, first.refreshToken, SLEEP))).toBe('invalid_grant');
    });

    test('makes a repeat that named only this scope an invalid_grant, and the family continues', async () => {
      const first = await start();
      const second = await harness.refresh(app, first.refreshToken, HEART);
      leave(SLEEP);
      expect(await reasonOf(harness.refresh(app, first.refreshToken, HEART))).toBe('invalid_grant');
      leave(HEART, SLEEP);
      const again = await harness.refresh(app, first.refreshToken, HEART);
      expect(again.refreshToken).toBe(second.refreshToken);
    });
  });

  describe('a grant without any remaining scope of a token', () => {
    test('makes introspection report inactive until a scope is shared again', async () => {
      const issued = await start();
      leave('read:mood');
      expect((await introspectOwn(issued.accessToken)).active).toBe(false);
      leave();
      expect((await introspectOwn(issued.refreshToken)).active).toBe(false);
      leave(HEART);
      expect(await introspectOwn(issued.accessToken)).toMatchObject({ active: true, scope: HEART });
      expect(await introspectOwn(issued.refreshToken)).toMatchObject({ active: true, scope: HEART });
    });

    test('makes a refresh an invalid_grant that consumes nothing', async () => {
      const first = await start();
      leave();
      expect(await reasonOf(harness.refresh(app, first.refreshToken))).toBe('invalid_grant');
      leave(HEART);
      expect((await harness.refresh(app, first.refreshToken)).scope).toBe(HEART);
    });

    test('makes an exchange an invalid_grant that consumes nothing', async () => {
      const code = await harness.obtainCode(app);
      leave('read:mood');
      expect(await reasonOf(harness.exchange(app, code))).toBe('invalid_grant');
      leave(SLEEP, 'read:mood');
      expect((await harness.exchange(app, code)).scope).toBe(SLEEP);
    });
  });
});

describe('additions', () => {
  const MOOD = 'read:mood';
  const ALL = `${HEART} ${SLEEP} ${MOOD}`;

  /** The person approves mood, and shares heart and sleep already. */
  const widen = (): FakeGrant => {
    const grant = [...harness.consent.grants.values()].at(-1)!;
    grant.scopes = [HEART, SLEEP, MOOD];
    return grant;
  };
  const scopesOf = async (token: string) => (await harness.introspect(token)).principal?.scopes.join(' ');

  describe('a refresh after the person has approved more', () => {
    const start = async (includeGrantedScopes = 'true') =>
      harness.exchange(app, await harness.obtainCode(app, { includeGrantedScopes }));

    test('opens nothing more unless the family began with include_granted_scopes', async () => {
      const first = await start('false');
      widen();
      const refused = await refusalOf(harness.refresh(app, first.refreshToken, MOOD));
      expect(refused).toMatchObject({
        reason: 'invalid_scope',
        message: 'The scope exceeds what the tokens began with.',
      });
      const second = await harness.refresh(app, first.refreshToken);
      const began = `${HEART} ${SLEEP}`;
      expect([second.scope, await scopesOf(second.accessToken)]).toEqual([began, began]);
      const own = await harness.tokens.introspectOwnToken({ client: app, token: second.refreshToken });
      expect(own.scope).toBe(began);
    });

    test('opens the scopes that it names, also new ones, or all; nothing that the grant does not have', async () => {
      const first = await start();
      widen();
      const refused = harness.refresh(app, first.refreshToken, `${MOOD} read:profile`);
      expect(await reasonOf(refused)).toBe('invalid_scope');
      const second = await harness.refresh(app, first.refreshToken, MOOD);
      expect([second.scope, await scopesOf(second.accessToken)]).toEqual([MOOD, MOOD]);
      const third = await harness.refresh(app, second.refreshToken);
      expect([third.scope, await scopesOf(third.accessToken)]).toEqual([ALL, ALL]);
      const own = await harness.tokens.introspectOwnToken({ client: app, token: third.refreshToken });
      expect(own.scope).toBe(ALL);
    });

    test('can be repeated without scope when the grant was widened in between, with the same pair and scope', async () => {
      const first = await start();
      const second = await harness.refresh(app, first.refreshToken);
      widen();
      const again = await harness.refresh(app, first.refreshToken);
      expect(again).toMatchObject({ accessToken: second.accessToken, scope: `${HEART} ${SLEEP}` });
      expect(await reasonOf(harness.refresh(app, first.refreshToken, MOOD))).toBe('invalid_scope');
    });
  });

  describe('an exchange after the person has approved more', () => {
    const obtain = async (include: string | undefined) => {
      const asked = include === undefined ? {} : { includeGrantedScopes: include };
      const request = { client: app, redirectUri: REDIRECT_URI, scope: MOOD, ...asked };
      const { pendingId } = await harness.authorizations.openAuthorization(request);
      const decision = { pendingId, allRequested: true };
      const done = await harness.authorizations.completeAuthorization(decision, await harness.as('ada'));
      widen();
      return harness.exchange(app, codeOf(done.redirectUri));
    };

    test.each([
      ['all that the grant has, with include_granted_scopes', 'true', ALL],
      ['only what was approved, with include_granted_scopes=false', 'false', MOOD],
      ['only what was approved, without include_granted_scopes', undefined, MOOD],
    ])('opens %s', async (_, include, scope) => {
      const issued = await obtain(include);
      expect([issued.scope, await scopesOf(issued.accessToken)]).toEqual([scope, scope]);
    });

    test('is not possible with another value of include_granted_scopes', async () => {
      expect(await reasonOf(obtain('yes'))).toBe('invalid_request');
    });
  });
});
