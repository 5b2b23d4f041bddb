import type { LivenessCheck, Liveness as LivenessMessage } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { batchingCalls, SHORT_READS } from '@phds/service-kit/batcher';
import { queryRows, readStatement } from '@phds/service-kit/postgres/sql';
import { queryVerified, type RestoreGuard } from '@phds/service-kit/restore/guard';
import type { Row } from '@phds/service-kit/rpc/messages';
import type pg from 'pg';
import { type Grant, type GrantRow, toSub } from './grant-rows.ts';
import type { GrantTerms } from './terms.ts';

/** The subjects of a liveness check; empty ids are not checked. */
export interface LivenessQuery
  extends Pick<LivenessCheck, 'clientId' | 'appEpoch' | 'grantId' | 'familyId' | 'tokenHash'> {
  /** When a token without a grant was issued; null for other tokens. */
  readonly issuedAt: Date | null;
}

/** What is live now. Subjects that were not checked count as live. A grant suspended by a restore counts as revoked. */
interface Liveness extends Omit<Row<LivenessMessage>, 'grant'> {
  /** Null when not requested, unknown, or another app's. */
  readonly grant: (GrantTerms & Pick<Grant, 'status' | 'userId' | 'sub'>) | null;
}

const CHECK = readStatement(new URL('store/sql/check-liveness.sql', import.meta.url));
const FIND_OPEN = readStatement(new URL('store/sql/find-open-grant.sql', import.meta.url));

interface LivenessRow
  extends Pick<GrantRow, 'userId' | 'scopes' | 'expiresAt' | 'dataFrom' | 'status' | 'subHash'> {
  readonly appAlive: boolean;
  readonly familyAlive: boolean;
  readonly tokenAlive: boolean;
  readonly suspended: boolean;
  readonly id: string | null;
}

interface Parts {
  readonly pools: { readonly checks: pg.Pool; readonly ordinary: pg.Pool };
  readonly guard: RestoreGuard;
}

export type LivenessChecks = ReturnType<typeof createLivenessChecks>;

const NO_TOKEN = { familyId: '', tokenHash: new Uint8Array(), issuedAt: null } as const;

export function createLivenessChecks({ pools: { checks, ordinary }, guard }: Parts) {
  /**
   * Used by every introspection, exchange and refresh: one prepared statement, one snapshot. Questions at the same time share
   * statements, none of which began before they were asked.
   */
  const check = batchingCalls(
    (queries: readonly LivenessQuery[]) => guard.verified(() => checkAll(checks, guard, queries)),
    SHORT_READS,
  );
  return {
    check,
    /** What a person shares of a scope with an app now; null for nothing. */
    async findShared(userId: string, clientId: string, scope: string) {
      const [open] = await queryRows<{ id: string; appEpoch: number }>(ordinary, FIND_OPEN, userId, clientId);
      if (open === undefined) return null;
      const { id: grantId, appEpoch } = open;
      const { appAlive, grant } = await check({ clientId, appEpoch, grantId, ...NO_TOKEN });
      const isShared =
        appAlive && grant?.status === 'active' && grant.scopes.some((shared) => shared === scope);
      return isShared ? { grantId, expiresAt: grant.expiresAt, dataFrom: grant.dataFrom } : null;
    },
  };
}

async function checkAll(
  pool: pg.Pool,
  guard: RestoreGuard,
  queries: readonly LivenessQuery[],
): Promise<Liveness[]> {
  const columns = [
    queries.map(({ clientId }) => clientId),
    queries.map(({ appEpoch }) => appEpoch),
    queries.map(({ grantId }) => grantId),
    queries.map(({ familyId }) => familyId),
    queries.map(({ tokenHash }) => Buffer.from(tokenHash)),
    queries.map(({ issuedAt }) => issuedAt),
  ];
  return (await queryVerified<LivenessRow>(pool, guard, CHECK, columns)).map(fromRow);
}

function fromRow({ id, suspended, subHash, ...row }: LivenessRow): Liveness {
  const status = suspended ? 'revoked' : row.status;
  return { ...row, grant: id === null ? null : { ...row, status, sub: toSub(subHash) } };
}
