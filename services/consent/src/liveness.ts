import { batchingCalls, SHORT_READS } from '@phds/service-kit/batcher';
import { select } from '@phds/service-kit/postgres/sql';
import { readStatement } from '@phds/service-kit/postgres/statement';
import type { RestoreGuard } from '@phds/service-kit/restore/guard';
import { queryVerified } from '@phds/service-kit/restore/verified-query';
import type pg from 'pg';
import type { Grant, GrantTerms } from './domain/grant.ts';
import type { GrantRow } from './grant-rows.ts';
import { toSub } from './store/subs.ts';

/** The subjects of a liveness check; empty ids are not checked. */
export interface LivenessQuery {
  readonly clientId: string;
  /** The app's epoch when the credential was issued. */
  readonly appEpoch: number;
  readonly grantId: string;
  readonly familyId: string;
  /** SHA-256 of an access token, or empty. */
  readonly tokenHash: Uint8Array;
  /** When a token without a grant was issued; null for other tokens. */
  readonly issuedAt: Date | null;
}

/** What is live now. Subjects that were not checked count as live. */
export interface Liveness {
  /** Active, and in the same epoch. */
  readonly appAlive: boolean;
  readonly familyAlive: boolean;
  readonly tokenAlive: boolean;
  /** Null when not requested, unknown, or another app's. A grant suspended by a restore counts as revoked. */
  readonly grant: (GrantTerms & Pick<Grant, 'status' | 'userId' | 'sub'>) | null;
}

const CHECK = readStatement(new URL('store/sql/check-liveness.sql', import.meta.url));

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

/** What an app may have now. */
interface Shared {
  readonly grantId: string;
  readonly expiresAt: Date;
  readonly dataFrom: string | null;
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
    async findShared(userId: string, clientId: string, scope: string): Promise<Shared | null> {
      // Index: consent_grant_open_key.
      const [open] = await select<{ id: string; appEpoch: number }>(ordinary)`
        SELECT id, app_epoch AS "appEpoch" FROM consent_grant
        WHERE user_id = ${userId} AND client_id = ${clientId} AND closed_at IS NULL`;
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

function fromRow(row: LivenessRow): Liveness {
  const { appAlive, familyAlive, tokenAlive, scopes, expiresAt, userId, dataFrom } = row;
  const status = row.suspended ? 'revoked' : row.status;
  const grant =
    row.id === null ? null : { status, scopes, expiresAt, userId, dataFrom, sub: toSub(row.subHash) };
  return { appAlive, familyAlive, tokenAlive, grant };
}
