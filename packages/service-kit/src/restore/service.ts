import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { type Listed, type Page, toPage } from '@phds/catalog/pagination';
import {
  type ConfirmPartRequest,
  type ListSuspendedRequest,
  RestoreKind,
  RestoreService,
} from '@phds/contracts/phds/common/v1/restore_pb';
import { invalidRequest, notFound } from '../errors.ts';
import { parseUserId } from '../ids.ts';
import { implement } from '../rpc/service.ts';
import { OPERATORS, SUPPORTERS, VIEWERS } from '../trust/callers.ts';
import type { RestoreGuard } from './guard.ts';
import type { Restore } from './records.ts';

const INT_MAX = 0x7fff_ffff;

const KINDS = { detected: RestoreKind.DETECTED, declared: RestoreKind.DECLARED } as const;

/** What belongs to an app or to a person; null for any. */
export interface Part {
  readonly clientId: string | null;
  readonly userId: string | null;
}

/** What an unconfirmed restore suspends in a database. */
export interface Suspensions {
  /** How many grants or apps. */
  count(): Promise<number>;
  list(part: Part, page: Page): Promise<Listed<Suspended>>;
  /**
   * Lifts the suspension of this part by the restore of this number, and by no later one, as long as the database is the one of its
   * latest entry. Returns how many rows it changed.
   */
  confirm(number: number, part: Part): Promise<number>;
}

interface Suspended {
  readonly clientId: string;
  readonly appName: string;
  /** Empty for an app, like the user id. */
  readonly grantId: string;
  readonly userId: string;
  readonly madeAt: Date;
}

/** phds.common.v1.RestoreService for the database that the guard watches (docs/design/guarantees.md). */
export function createRestoreService({
  guard,
  suspensions,
}: {
  readonly guard: RestoreGuard;
  readonly suspensions: Suspensions;
}) {
  const rpcs = {
    async getRestoreStatus() {
      // A restore gets its number when it is detected; without one it could not be confirmed.
      await guard.untilDecided();
      const [latest, suspended] = await Promise.all([guard.findLatest(), suspensions.count()]);
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
    async listSuspended({ page, clientId, userId }: ListSuspendedRequest) {
      await guard.untilDecided();
      const { items, total } = await suspensions.list(toPart(clientId, userId), toPage(page));
      return {
        items: items.map(({ madeAt, ...item }) => ({ ...item, madeAt: timestampFromDate(madeAt) })),
        total,
      };
    },
    async confirmPart({ number, clientId, userId }: ConfirmPartRequest) {
      const part = toPart(clientId, userId);
      if ((part.clientId === null) === (part.userId === null))
        throw invalidRequest('clientId', 'or userId must be given, and not both');
      const latest = await guard.findLatest();
      if (latest?.number !== number || latest.confirmedAt !== null) throw notFound();
      const confirmed = await suspensions.confirm(number, part);
      await guard.acknowledge();
      return { confirmed };
    },
  };
  const admitted = {
    getRestoreStatus: VIEWERS,
    declareRestore: OPERATORS,
    confirmRestore: OPERATORS,
    listSuspended: SUPPORTERS,
    confirmPart: OPERATORS,
  };
  return implement(RestoreService, rpcs, admitted);
}

function toPart(clientId: string, userId: string): Part {
  return { clientId: clientId || null, userId: userId === '' ? null : parseUserId(userId) };
}

function toRestoreMessage({ number, at, kind, confirmedAt }: Restore) {
  return {
    number,
    at: timestampFromDate(at),
    kind: KINDS[kind],
    ...(confirmedAt !== null && { confirmedAt: timestampFromDate(confirmedAt) }),
  };
}
