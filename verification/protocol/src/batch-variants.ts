import { StreamLost } from '@phds/service-kit/rpc/call-stream';
import type { Verdict } from '../../../services/health-data/src/app/ports.ts';
import type { BrokenVariant } from './broken-variant.ts';
import { approveSecond, history, request, requestAll, revokeGrant } from './short-histories.ts';

/** Mistakes of health-data and the gateway with batches, and with streams that are lost under them. */
export const BATCHES: Record<string, BrokenVariant> = {
  'released-by-the-first-verdict': {
    mistake: 'a batch is released if its first access may be released',
    breaks: 'data-after-revocation',
    shownBy: history(approveSecond, requestAll, revokeGrant),
    accessLog: (real) => async (accesses) => {
      const verdicts = await real(accesses);
      return verdicts.map(() => verdicts[0] ?? null);
    },
  },
  'released-by-the-verdicts-of-another-batch': {
    mistake: 'a batch is released by the verdicts of the batch before it',
    breaks: 'data-after-revocation',
    shownBy: history(request, revokeGrant, request),
    accessLog(real) {
      let last: readonly (Verdict | null)[] = [];
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
    accessLog: (real) => async (accesses) => {
      const [first, ...others] = await real(accesses);
      return first === undefined ? [] : [...others, first];
    },
  },
  'answers-in-the-order-of-arrival': {
    mistake:
      'the gateway takes the answers of a batch in the order of its reads, but one of them was refused before the record',
    breaks: 'data-without-record',
    shownBy: history(approveSecond, requestAll),
    sendReads: (real) => (calls) => {
      const unanswered = [...calls];
      const answer = {
        resolve: (...response: Parameters<(typeof calls)[number]['resolve']>) =>
          unanswered.shift()?.resolve(...response),
        reject: (...error: Parameters<(typeof calls)[number]['reject']>) =>
          unanswered.shift()?.reject(...error),
      };
      real(calls.map((call) => ({ ...call, ...answer })));
    },
  },
  'released-although-a-verdict-is-missing': {
    mistake: 'health-data releases accesses for which no verdict came',
    breaks: 'data-after-revocation',
    shownBy: history(revokeGrant, { ...requestAll, stop: { at: 'answered', lacks: 'verdict' } }),
    accessLog: (real) => async (accesses) => {
      const verdicts = await real(accesses);
      return accesses.map((_, index) => verdicts[index] ?? 'released');
    },
  },
  'released-when-the-stream-is-lost': {
    mistake: 'health-data releases a batch whose stream is lost after the record and before the verdicts',
    breaks: 'data-after-revocation',
    shownBy: history(revokeGrant, { ...request, stop: { at: 'recorded', loses: 'records' } }),
    accessLog: (real) => async (accesses) => {
      try {
        return await real(accesses);
      } catch (error) {
        if (!(error instanceof StreamLost)) throw error;
        return accesses.map(() => 'released');
      }
    },
  },
  'released-by-an-older-record': {
    mistake:
      'reads that the gateway sends again after a lost stream are released without a record of their own',
    breaks: 'data-without-record',
    shownBy: history(revokeGrant, { ...requestAll, stop: { at: 'recorded', loses: 'reads' } }),
    accessLog(real) {
      const sent = new Set<string>();
      return async (accesses) => {
        const unsent = accesses.filter(({ requestId }) => !sent.has(requestId) && sent.add(requestId));
        const verdicts = unsent.length === 0 ? [] : await real(unsent);
        return accesses.map((access) => {
          const index = unsent.indexOf(access);
          return index === -1 ? 'released' : (verdicts[index] ?? null);
        });
      };
    },
  },
};
