import type { Verdict } from '../../../services/consent/src/domain/access.ts';
import { BATCHES } from './batch-variants.ts';
import type { BrokenVariant } from './broken-variant.ts';
import { type Action, HEART, HOUR, MINUTE, SLEEP } from './history.ts';
import type { Rule } from './oracle.ts';
import { RECORDING } from './recording-variants.ts';
import { history, revokeFamily, revokeGrant, revokeToken, wait, which } from './short-histories.ts';

const tenMinutesLeft: Action = { do: 'narrow', which, to: { lifeMs: 10 * MINUTE } };

/** A judgement that releases accesses that must be refused for one of the causes. */
function forgetting(verdict: Verdict, breaks: Rule, ...actions: Action[]): BrokenVariant {
  return {
    mistake: `the judgement does not know ${verdict}`,
    breaks,
    shownBy: history(...actions),
    accessRecords: (real) => ({
      judge: async (accesses, refs) =>
        (await real.judge(accesses, refs)).map((one) => (one === verdict ? 'released' : one)),
    }),
  };
}

/** One for each cause, except a restore of the database, which no history contains. */
const FORGOTTEN: Record<Exclude<Verdict, 'released' | 'restore_unconfirmed'>, BrokenVariant> = {
  token_expired: forgetting('token_expired', 'data-by-expired-token', wait(65 * MINUTE)),
  app_not_alive: forgetting('app_not_alive', 'data-after-revocation', {
    do: 'set-status',
    app: 'first',
    statuses: ['suspended'],
  }),
  family_revoked: forgetting('family_revoked', 'data-after-revocation', revokeFamily),
  token_revoked: forgetting('token_revoked', 'data-after-revocation', revokeToken),
  grant_revoked: forgetting('grant_revoked', 'data-after-revocation', revokeGrant),
  grant_expired: forgetting('grant_expired', 'ended-grant-revived', tenMinutesLeft, wait(11 * MINUTE)),
  scope_withdrawn: forgetting('scope_withdrawn', 'data-after-revocation', {
    do: 'narrow',
    which,
    to: { keep: SLEEP },
  }),
  window_changed: forgetting('window_changed', 'data-after-revocation', {
    do: 'narrow',
    which,
    to: { dataFrom: '2021-01-01' },
  }),
};

const LEDGER: Record<string, BrokenVariant> = {
  'own-tables-before-the-ledger': {
    mistake: 'authorization records a revocation before the ledger does, so that a retry skips the ledger',
    breaks: 'data-after-revocation',
    shownBy: [{ action: revokeToken, network: ['call-lost'] }],
    ledger: (real, { databases }) => ({
      async revokeToken(hash, expiresAt) {
        const note = 'UPDATE access_token SET revoked_at = now() WHERE hash = $1';
        await databases.authorization.query(note, [hash]);
        await real.revokeToken(hash, expiresAt);
      },
    }),
  },
  'acknowledged-before-the-commit': {
    mistake: 'a revocation is acknowledged first and committed later',
    breaks: 'data-after-revocation',
    shownBy: history(revokeToken),
    ledger(real) {
      let commit = () => Promise.resolve();
      return {
        async revokeToken(hash, expiresAt) {
          await commit();
          commit = () => real.revokeToken(hash, expiresAt);
        },
      };
    },
  },
  'expired-by-the-own-clock-is-not-revoked': {
    mistake: 'authorization acknowledges, without the ledger, what its own clock calls expired',
    breaks: 'data-after-revocation',
    shownBy: history({ do: 'set-clock', aheadMs: 2 * HOUR }, revokeToken, { do: 'set-clock', aheadMs: 0 }),
    ledger: (real, { clock }) => ({
      async revokeToken(hash, expiresAt) {
        if (expiresAt > clock.now()) await real.revokeToken(hash, expiresAt);
      },
    }),
  },
};

const DATABASE: Record<string, BrokenVariant> = {
  'epoch-ignored': {
    mistake: 'an app that was revoked and is active again has the same epoch as before',
    breaks: 'data-after-revocation',
    shownBy: history({ do: 'set-status', app: 'first', statuses: ['revoked', 'active'] }),
    trigger: { service: 'consent', table: 'app', on: 'UPDATE', body: 'NEW.epoch := OLD.epoch;' },
  },
  'ended-grant-revived': {
    mistake: 'a new approval revives the grant that has expired',
    breaks: 'ended-grant-revived',
    shownBy: history(tenMinutesLeft, wait(11 * MINUTE), {
      do: 'approve',
      app: 'first',
      asked: [HEART],
      approved: [HEART],
      dataFrom: '',
    }),
    trigger: {
      service: 'consent',
      table: 'consent_grant',
      on: 'INSERT',
      body: `UPDATE consent.consent_grant SET expires_at = NEW.expires_at
        WHERE user_id = NEW.user_id AND client_id = NEW.client_id AND revoked_at IS NULL;`,
    },
  },
  'ledger-pruned-early': {
    mistake: 'revoked tokens and families are forgotten while they could still be used',
    breaks: 'data-after-revocation',
    shownBy: history(revokeToken, wait(11 * MINUTE)),
    prune: 'DELETE FROM revoked_token; DELETE FROM revoked_family',
  },
  'refresh-starts-a-new-family': {
    mistake: 'the access tokens that come from a refresh belong to another family',
    breaks: 'data-after-revocation',
    shownBy: history({ do: 'refresh', which }, revokeFamily),
    trigger: {
      service: 'authorization',
      table: 'access_token',
      on: 'INSERT',
      body: `IF EXISTS (SELECT FROM "authorization".access_token WHERE family_id = NEW.family_id) THEN
          INSERT INTO "authorization".token_family (id, client_id, user_id, grant_id, app_epoch, created_at, expires_at)
          SELECT id || encode(NEW.hash, 'hex'), client_id, user_id, grant_id, app_epoch, created_at, expires_at
          FROM "authorization".token_family WHERE id = NEW.family_id
          RETURNING id INTO NEW.family_id;
        END IF;`,
    },
  },
};

/** Every mistake that must be detected, by name. */
export const BROKEN_VARIANTS: ReadonlyMap<string, BrokenVariant> = new Map([
  ...Object.entries({ ...RECORDING, ...BATCHES, ...LEDGER, ...DATABASE }),
  ...Object.entries(FORGOTTEN).map(([cause, variant]) => [`${cause}-forgotten`, variant] as const),
]);
