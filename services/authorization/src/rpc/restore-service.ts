import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { RestoreKind, RestoreService } from '@phds/contracts/phds/authorization/v1/restore_pb';
import { notFound } from '@phds/service-kit/errors';
import { implement } from '@phds/service-kit/rpc-service';
import type { Restores } from '../app/restores.ts';
import type { Restore } from '../domain/restore.ts';

const OPERATOR = ['operator'];
const INT_MAX = 0x7fff_ffff;

const KINDS = { detected: RestoreKind.DETECTED, declared: RestoreKind.DECLARED } as const;

/** phds.authorization.v1.RestoreService. */
export function restoreService(restores: Restores) {
  return implement(
    RestoreService,
    {
      async getRestoreStatus() {
        const { latest, suspendedApps } = await restores.status();
        return latest === null ? { suspendedApps } : { latest: toMessage(latest), suspendedApps };
      },
      async declareRestore() {
        return { restore: toMessage(await restores.declare()) };
      },
      async confirmRestore({ number }) {
        if (number > INT_MAX) throw notFound();
        return { restore: toMessage(await restores.confirm(number)) };
      },
    },
    { getRestoreStatus: OPERATOR, declareRestore: OPERATOR, confirmRestore: OPERATOR },
  );
}

function toMessage({ number, at, kind, confirmedAt }: Restore) {
  return {
    number,
    at: timestampFromDate(at),
    kind: KINDS[kind],
    ...(confirmedAt === null ? {} : { confirmedAt: timestampFromDate(confirmedAt) }),
  };
}
