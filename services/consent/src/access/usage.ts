import type { AppUsage, RefusalCount } from '@phds/contracts/phds/consent/v1/access_pb';
import type { Turns } from '@phds/service-kit/batcher';
import { queryRows, readStatement, runStatement } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import { requireOwnApp } from '../apps.ts';
import type { DayRange } from './local-days.ts';

const LIST = readStatement(new URL('../store/sql/app-usage.sql', import.meta.url));
const ADD_REFUSALS = readStatement(new URL('../store/sql/add-refusals.sql', import.meta.url));

export type Usage = ReturnType<typeof createUsage>;

/** The usage of apps, for their developers: counts of access records, and of refusals reported by gateways. */
export function createUsage({
  pools: { ordinary: pool },
  turns,
}: {
  readonly pools: { readonly ordinary: pg.Pool };
  readonly turns: Turns;
}) {
  return {
    /** A null range means the last 30 days. Throws `not_found` unless the user owns the app. */
    ofApp: (clientId: string, ownerId: string, range: DayRange | null): Promise<AppUsage[]> =>
      turns(ownerId, async () => {
        await requireOwnApp(pool, { clientId, ownerId });
        return queryRows<AppUsage>(pool, LIST, clientId, range?.from, range?.to);
      }),
    /** Adds a gateway's counts, ignoring those of unknown apps; all or nothing. */
    addRefusals: (refusals: readonly RefusalCount[]) => addRefusals(pool, refusals),
  };
}

async function addRefusals(pool: pg.Pool, refusals: readonly RefusalCount[]): Promise<void> {
  const columns = ['clientId', 'date', 'endpoint', 'status', 'count', 'withoutKey', 'grantId'] as const;
  const values = columns.map((column) => refusals.map((refusal) => refusal[column]));
  await runStatement(pool, ADD_REFUSALS, ...values);
}
