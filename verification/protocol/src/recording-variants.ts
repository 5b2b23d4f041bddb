import type { AccessRecordBatch } from '../../../services/consent/src/app/access-ports.ts';
import type { Judgement } from '../../../services/consent/src/domain/access.ts';
import type { BrokenVariant } from './broken-variant.ts';
import {
  approveSecond,
  history,
  request,
  requestAll,
  revokeGrant,
  verifyAssertions,
} from './short-histories.ts';

/** Mistakes of consent with the record and the judgement. */
export const RECORDING: Record<string, BrokenVariant> = {
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
