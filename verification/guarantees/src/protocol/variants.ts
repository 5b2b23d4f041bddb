import { create } from '@bufbuild/protobuf';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import { Verdict as ReleaseVerdict } from '@phds/contracts/phds/consent/v1/access_pb';
import {
  type RevokeTokensRequest,
  RevokeTokensResponseSchema,
} from '@phds/contracts/phds/consent/v1/ledger_pb';
import { isConnectionLost } from '@phds/service-kit/rpc/errors';
import type pg from 'pg';
import type { ConsentLedger } from '../../../../services/authorization/src/clients/consent.ts';
import type {
  AccessRecordBatch,
  AccessStatements,
  Judgement,
  Verdict,
} from '../../../../services/consent/src/access/statements.ts';
import type { ReadRpcs } from '../../../../services/gateway/src/clients/batched-calls.ts';
import type { SendAccesses } from '../../../../services/health-data/src/clients/consent-connection.ts';
import { type Action, type ActionOf, HEART, type History, HOUR, MINUTE, SLEEP } from './history.ts';
import type { Rule } from './oracle.ts';

// Actions of the histories that each show one mistake, on the newest of everything.

export const which = 0;
export const request: ActionOf<'request'> = {
  do: 'request',
  which,
  scope: HEART,
  remembered: true,
  stop: null,
};
export const requestAll: ActionOf<'request-all'> = { do: 'request-all', stop: null };
/** After it, health-data knows the assertions of the path on which batches are stopped, so the next batch is not divided. */
export const verifyAssertions: Action = { ...requestAll, stop: { at: 'admitted', steps: 0 } };
export const revokeGrant: Action = { do: 'revoke-grant', which };
export const revokeToken: Action = { do: 'revoke-token', which };
export const revokeFamily: Action = { do: 'revoke-family', which };
/** Its token lacks the other scope. */
export const approveSecond: Action = {
  do: 'approve',
  app: 'second',
  asked: [HEART],
  approved: [HEART],
  dataFrom: '',
};

export const wait = (ms: number): Action => ({ do: 'wait', ms });
export const history = (...actions: Action[]): History => actions.map((action) => ({ action }));

/** The clock of the services, and their databases through the owners' roles. */
export interface Surroundings {
  readonly clock: { aheadMs: number; now(): Date };
  readonly databases: Readonly<Record<'consent' | 'authorization', pg.Pool>>;
}

/** A trigger that runs before each change of a row in a service's database; `body` is PL/pgSQL. */
interface Trigger {
  readonly service: keyof Surroundings['databases'];
  readonly table: string;
  readonly on: 'INSERT' | 'UPDATE';
  readonly body: string;
}

/** The real services with one mistake, made at a port or in a database. */
export interface BrokenVariant {
  readonly mistake: string;
  /** The violation that the oracle must report. */
  readonly breaks: Rule;
  /** A short history in which the mistake breaks a promise. */
  readonly shownBy: History;
  readonly accessRecords?: (real: AccessStatements) => Partial<AccessStatements>;
  /** How health-data has a batch recorded and judged. */
  readonly sendAccesses?: (real: SendAccesses) => SendAccesses;
  /** How the gateway sends a batch of reads. */
  readonly sendReads?: (real: ReadRpcs['reads']) => ReadRpcs['reads'];
  readonly ledger?: (real: ConsentLedger, surroundings: Surroundings) => Partial<ConsentLedger>;
  readonly trigger?: Trigger;
  /** Replaces the statement that prunes the ledger. */
  readonly prune?: string;
}

/** Runs `use` with that variant's mistake in the services. */
export async function withMistake<T>(
  control: Surroundings & { variant: BrokenVariant | null },
  variant: BrokenVariant,
  use: () => Promise<T>,
): Promise<T> {
  const { trigger } = variant;
  await using undo = new AsyncDisposableStack();
  if (trigger !== undefined) {
    const database = control.databases[trigger.service];
    await database.query(toSql(trigger));
    undo.defer(async () => void (await database.query('DROP FUNCTION mistake CASCADE')));
  }
  control.variant = variant;
  undo.defer(() => {
    control.variant = null;
  });
  return await use();
}

function toSql({ table, on, body }: Trigger): string {
  return `CREATE FUNCTION mistake() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} RETURN NEW; END $$;
    CREATE TRIGGER mistake BEFORE ${on} ON ${table} FOR EACH ROW EXECUTE FUNCTION mistake()`;
}

/** Mistakes of consent with the record and the judgement. */
const RECORDING: Record<string, BrokenVariant> = {
  'judged-before-the-commit': {
    mistake:
      'consent judges a batch in a snapshot from before the commit of its records: a revocation comes in between',
    breaks: 'record-after-revocation',
    shownBy: history(
      approveSecond,
      verifyAssertions,
      { ...requestAll, stop: { at: 'judged', steps: 1 } },
      revokeGrant,
    ),
    accessRecords(real) {
      const waiting: AccessRecordBatch[] = [];
      return {
        async insert(batch) {
          // A batch that contains only refusals is not judged.
          if (batch.accessRecords.every(({ refersTo }) => refersTo !== null)) await real.insert(batch);
          else waiting.push(batch);
        },
        async judge(accesses, refs) {
          const batch = waiting.shift();
          const judgements = await real.judge(accesses, refs);
          if (batch !== undefined) await real.insert(batch);
          return judgements;
        },
      };
    },
  },
  'recorded-later': {
    mistake: 'consent goes on before the record is durable',
    breaks: 'data-without-record',
    shownBy: history(request),
    accessRecords(real) {
      let late: AccessRecordBatch | null = null;
      return {
        async insert(batch) {
          const before = late;
          late = batch;
          if (before !== null) await real.insert(before);
        },
      };
    },
  },
  'not-recorded': {
    mistake: 'consent judges without a record',
    breaks: 'data-without-record',
    shownBy: history(request),
    accessRecords: () => ({ insert: async () => undefined }),
  },
  'released-although-the-record-failed': {
    mistake: 'an answer leaves although the record could not be made',
    breaks: 'data-without-record',
    shownBy: history({ ...request, stop: { at: 'inserting', fails: true } }),
    accessRecords: (real) => ({ insert: (batch) => real.insert(batch).catch(() => undefined) }),
  },
  'released-before-the-verdict': {
    mistake: 'an answer leaves as soon as its record is committed, whatever the judgement says',
    breaks: 'data-after-revocation',
    shownBy: history(revokeGrant),
    accessRecords: () => ({ judge: async (accesses) => accesses.map(() => 'released') }),
  },
  'refused-without-cause': {
    mistake: 'the judgement takes every grant for revoked',
    breaks: 'refused-without-cause',
    shownBy: history(request),
    accessRecords: () => ({ judge: async (accesses) => accesses.map(() => 'grant_revoked') }),
  },
  'judged-by-an-older-snapshot': {
    mistake: 'the judgement does not see what was committed since the same access was judged before',
    breaks: 'data-after-revocation',
    shownBy: history(request, revokeGrant),
    accessRecords(real) {
      const memory = new Map<string, Judgement>();
      return {
        async judge(accesses, refs) {
          const judgements = await real.judge(accesses, refs);
          return judgements.map((judgement, index) => {
            const key = `${accesses[index]?.tokenHash} ${accesses[index]?.scope}`;
            if (!memory.has(key)) memory.set(key, judgement);
            return memory.get(key) ?? judgement;
          });
        },
      };
    },
  },
  'remembered-and-not-recorded': {
    mistake: 'what was recorded before is released again without a record',
    breaks: 'data-without-record',
    shownBy: history(request, request),
    accessRecords(real) {
      const memory = new Set<string>();
      return {
        async insert(batch) {
          const keys = batch.accessRecords.map(({ grantId, scope }) => `${grantId} ${scope}`);
          if (!keys.every((key) => memory.has(key))) await real.insert(batch);
          for (const key of keys) memory.add(key);
        },
      };
    },
  },
};

/** Mistakes of health-data and the gateway with batches, and with connections that are lost under them. */
const BATCHES: Record<string, BrokenVariant> = {
  'released-by-the-first-verdict': {
    mistake: 'a batch is released if its first access may be released',
    breaks: 'data-after-revocation',
    shownBy: history(approveSecond, requestAll, revokeGrant),
    sendAccesses: (real) => async (accesses) => {
      const verdicts = await real(accesses);
      return verdicts.map(() => verdicts[0] ?? ReleaseVerdict.UNSPECIFIED);
    },
  },
  'released-by-the-verdicts-of-another-batch': {
    mistake: 'a batch is released by the verdicts of the batch before it',
    breaks: 'data-after-revocation',
    shownBy: history(request, revokeGrant, request),
    sendAccesses(real) {
      let last: readonly ReleaseVerdict[] = [];
      return async (accesses) => {
        const before = last;
        last = await real(accesses);
        return before.length === last.length ? before : last;
      };
    },
  },
  'verdicts-move-up': {
    mistake: 'one access drops out of a batch after the record, and the verdicts of the others move up',
    breaks: 'data-after-revocation',
    shownBy: history(approveSecond, requestAll, revokeGrant),
    sendAccesses: (real) => async (accesses) => {
      const [first, ...others] = await real(accesses);
      return first === undefined ? [] : [...others, first];
    },
  },
  'answers-in-another-order': {
    mistake:
      'health-data answers a batch in another order: first the reads that were refused before the record',
    breaks: 'data-without-record',
    shownBy: history(approveSecond, requestAll),
    sendReads: (real) => async (request, options) => {
      const response = await real(request, options);
      const rank = ({ result }: (typeof response.answers)[number]) => (result.case === 'error' ? 0 : 1);
      return { ...response, answers: response.answers.toSorted((one, other) => rank(one) - rank(other)) };
    },
  },
  'released-although-a-verdict-is-missing': {
    mistake: 'health-data releases accesses for which no verdict came',
    breaks: 'data-after-revocation',
    shownBy: history(revokeGrant, { ...requestAll, stop: { at: 'answered', lacks: 'verdict' } }),
    sendAccesses: (real) => async (accesses) => {
      const verdicts = await real(accesses);
      return accesses.map((_, index) => verdicts[index] ?? ReleaseVerdict.RELEASED);
    },
  },
  'released-when-the-connection-is-lost': {
    mistake: 'health-data releases a batch whose connection is lost after the record and before the verdicts',
    breaks: 'data-after-revocation',
    shownBy: history(revokeGrant, { ...request, stop: { at: 'recorded', loses: 'records' } }),
    sendAccesses: (real) => async (accesses) => {
      try {
        return await real(accesses);
      } catch (error) {
        if (!isConnectionLost(error)) throw error;
        return accesses.map(() => ReleaseVerdict.RELEASED);
      }
    },
  },
  'released-by-an-older-record': {
    mistake:
      'reads that the gateway sends again after a lost connection are released without a record of their own',
    breaks: 'data-without-record',
    shownBy: history(revokeGrant, { ...requestAll, stop: { at: 'recorded', loses: 'reads' } }),
    sendAccesses(real) {
      const sent = new Set<string>();
      return async (accesses) => {
        const unsent = accesses.filter(({ requestId }) => !sent.has(requestId) && sent.add(requestId));
        const verdicts = unsent.length === 0 ? [] : await real(unsent);
        return accesses.map((access) => {
          const index = unsent.indexOf(access);
          const known = index === -1 ? ReleaseVerdict.RELEASED : verdicts[index];
          return known ?? ReleaseVerdict.UNSPECIFIED;
        });
      };
    },
  },
};

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
      async revokeTokens(request) {
        const { revoked } = request as RevokeTokensRequest;
        const note = 'UPDATE access_token SET revoked_at = now() WHERE hash = $1';
        await databases.authorization.query(note, [revoked.value]);
        return real.revokeTokens(request);
      },
    }),
  },
  'acknowledged-before-the-commit': {
    mistake: 'a revocation is acknowledged first and committed later',
    breaks: 'data-after-revocation',
    shownBy: history(revokeToken),
    ledger(real) {
      let commit: () => Promise<unknown> = () => Promise.resolve();
      return {
        async revokeTokens(request) {
          await commit();
          commit = () => real.revokeTokens(request);
          return create(RevokeTokensResponseSchema);
        },
      };
    },
  },
  'expired-by-the-own-clock-is-not-revoked': {
    mistake: 'authorization acknowledges, without the ledger, what its own clock calls expired',
    breaks: 'data-after-revocation',
    shownBy: history({ do: 'set-clock', aheadMs: 2 * HOUR }, revokeToken, { do: 'set-clock', aheadMs: 0 }),
    ledger: (real, { clock }) => ({
      async revokeTokens(request) {
        const { expiresAt } = request as RevokeTokensRequest;
        const isExpired = expiresAt !== undefined && timestampDate(expiresAt) <= clock.now();
        return isExpired ? create(RevokeTokensResponseSchema) : real.revokeTokens(request);
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
          INSERT INTO "authorization".token_family (id, client_id, user_id, grant_id, app_epoch, created_at, expires_at, refresh_hash)
          SELECT id || encode(NEW.hash, 'hex'), client_id, user_id, grant_id, app_epoch, created_at, expires_at, refresh_hash
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
