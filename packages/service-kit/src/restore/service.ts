import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { RestoreKind, RestoreService } from '@phds/contracts/phds/common/v1/restore_pb';
import { notFound } from '../errors.ts';
import { translatingErrors } from '../postgres/errors.ts';
import { implement } from '../rpc/service.ts';
import { OPERATORS, VIEWERS } from '../trust/operators.ts';
import type { RestoreGuard } from './guard.ts';
import type { Restore } from './records.ts';

const INT_MAX = 0x7fff_ffff;

const KINDS = { detected: RestoreKind.DETECTED, declared: RestoreKind.DECLARED } as const;

/** phds.common.v1.RestoreService for the database that the guard watches (docs/decisions/0011). */
export function createRestoreService({
  guard,
  countSuspended,
}: {
  readonly guard: RestoreGuard;
  /** How many grants or apps an unconfirmed restore suspends. */
  readonly countSuspended: () => Promise<number>;
}) {
  const rpcs = translatingErrors({
    async getRestoreStatus() {
      // A restore gets its number when it is detected; without one it could not be confirmed.
      await guard.settle();
      const [latest, suspended] = await Promise.all([guard.findLatest(), countSuspended()]);
      return { suspended, ...(latest !== null && { latest: toRestoreMessage(latest) }) };
    },
    async declareRestore() {
      return { restore: toRestoreMessage(await guard.declare()) };
    },
    async confirmRestore({ number }: { readonly number: number }) {
      const restore = number > INT_MAX ? null : await guard.confirm(number);
      if (restore === null) throw notFound();
      return { restore: toRestoreMessage(restore) };
    },
  });
  const admitted = { getRestoreStatus: VIEWERS, declareRestore: OPERATORS, confirmRestore: OPERATORS };
  return implement(RestoreService, rpcs, admitted);
}

function toRestoreMessage({ number, at, kind, confirmedAt }: Restore) {
  return {
    number,
    at: timestampFromDate(at),
    kind: KINDS[kind],
    ...(confirmedAt !== null && { confirmedAt: timestampFromDate(confirmedAt) }),
  };
}
