import type { Rule } from './oracle.ts';

/** The protocol with one thing done wrong. */
export interface BrokenVariant {
  readonly wrong: string;
  /** What it breaks; a counterexample shows at least one of these. */
  readonly breaks: readonly Rule[];
}

const LATE: readonly Rule[] = ['data-after-revocation'];

/** Every mistake that the simulation has to catch, by name. */
export const BROKEN_VARIANTS = {
  'validate-before-record': {
    wrong:
      'consent judges first and records afterwards: a revocation slips in between, and the record is younger',
    breaks: ['record-after-revocation'],
  },
  'validate-in-the-insert-snapshot': {
    wrong: 'consent judges in the snapshot of the insert: older than the commit of the record',
    breaks: ['record-after-revocation'],
  },
  'asynchronous-commit': {
    wrong: 'the database answers before a commit is durable, and loses the tail at a failover',
    breaks: ['data-after-revocation', 'data-without-record'],
  },
  'release-before-the-verdict': {
    wrong: 'health-data answers as soon as the record is committed; the judgement only annotates it',
    breaks: LATE,
  },
  'own-tables-before-the-ledger': {
    wrong: 'authorization notes a revocation before the ledger has it: a repeat after a crash finds it done',
    breaks: LATE,
  },
  'expiry-by-the-gateway-clock': {
    wrong: 'the judgement leaves the expiry of the token to the clocks of gateway and authorization',
    breaks: ['data-by-expired-token'],
  },
  'ended-grant-joined-by-a-re-approval': {
    wrong: 'a new approval joins the open grant without asking whether it is live',
    breaks: ['ended-grant-revived'],
  },
  'ledger-row-pruned-early': {
    wrong: 'revoked tokens and families are forgotten after a minute, because no cache is older than that',
    breaks: LATE,
  },
  'cache-judges-alone': {
    wrong: 'health-data releases without a record what the gateway knew from its cache',
    breaks: ['data-after-revocation', 'data-without-record'],
  },
  'epoch-ignored': {
    wrong: 'the judgement asks whether the app is active and not in which of its lives the grant was made',
    breaks: ['data-after-revocation', 'ended-grant-revived'],
  },
  'narrowing-not-in-the-ledger': {
    wrong: 'the judgement leaves the scopes of the grant to the facts that the gateway remembers',
    breaks: LATE,
  },
  'acknowledged-before-the-commit': {
    wrong: 'consent answers a revocation and commits it afterwards',
    breaks: LATE,
  },
  'judged-on-a-replica': {
    wrong: 'the judgement reads from a replica that follows late',
    breaks: LATE,
  },
  'released-when-consent-is-away': {
    wrong: 'health-data answers when the record could not be made',
    breaks: ['data-after-revocation', 'data-without-record'],
  },
  'expired-by-the-own-clock-is-not-revoked': {
    wrong: 'authorization acknowledges without the ledger what its own clock calls expired',
    breaks: LATE,
  },
  'refresh-starts-a-new-family': {
    wrong: 'the successors of a refresh token belong to a family of their own',
    breaks: LATE,
  },
} as const satisfies Record<string, BrokenVariant>;

export type VariantName = keyof typeof BROKEN_VARIANTS;
