import { SandboxGrantChangeSchema, SandboxService } from '@phds/contracts/phds/consent/v1/sandbox_pb';
import { AppError, invalidRequest } from '@phds/service-kit/errors';
import { readStatement, runStatement } from '@phds/service-kit/postgres/sql';
import type { UserOf } from '@phds/service-kit/rpc/context';
import { findMember } from '@phds/service-kit/rpc/messages';
import { implement } from '@phds/service-kit/rpc/service';
import type pg from 'pg';
import { requireOwnApp } from './apps.ts';
import type { Change } from './changes.ts';
import { found } from './grant-lists.ts';
import { findGrant, type Grant } from './grant-rows.ts';
import type { Grants } from './grants.ts';
import { parseKnownId } from './parameters.ts';
import type { EvictionPublisher } from './redis-evictions.ts';

const EXPIRE = readStatement(new URL('store/sql/expire-grant.sql', import.meta.url));

/** What a developer can let happen to a grant. */
type GrantTrigger = 'narrow' | 'revoke' | 'expire';

interface Parts {
  readonly pools: { readonly ordinary: pg.Pool };
  readonly grants: Pick<Grants, 'narrow' | 'revoke'>;
  readonly change: Change;
  readonly evictions: EvictionPublisher;
}

/** phds.consent.v1.SandboxService: what a developer does to a grant of an own app. Registered in a sandbox deployment only. */
export function createSandboxService({ userOf, ...parts }: Parts & { readonly userOf: UserOf }) {
  const { ordinary: pool } = parts.pools;
  return implement(
    SandboxService,
    {
      async findSandboxGrant(request, context) {
        const grant = await getGrant(pool, request, await userOf(context));
        refuseEnded(grant);
        return { userId: grant.userId, scopes: [...grant.scopes] };
      },
      async changeSandboxGrant(request, context) {
        const ownerId = await userOf(context);
        const trigger = findMember<GrantTrigger>('change', SandboxGrantChangeSchema, request.change);
        if (trigger === null) throw invalidRequest('change', 'is missing');
        return changeGrant(parts, await getGrant(pool, request, ownerId), trigger);
      },
    },
    { findSandboxGrant: ['gateway'], changeSandboxGrant: ['gateway'] },
  );
}

async function getGrant(
  pool: pg.Pool,
  request: { readonly clientId: string; readonly grantId: string },
  ownerId: string,
): Promise<Grant> {
  const clientId = parseKnownId('app', request.clientId);
  const id = parseKnownId('grt', request.grantId);
  await requireOwnApp(pool, { clientId, ownerId });
  return found(await findGrant(pool, id, { clientId }));
}

/** Returns whether anything changed, and the withdrawn scope. */
export async function changeGrant(
  { pools: { ordinary }, grants, change, evictions }: Parts,
  grant: Grant,
  trigger: GrantTrigger,
): Promise<{ changed: boolean; scope?: string }> {
  if (trigger === 'narrow') {
    refuseEnded(grant);
    await grants.narrow(grant.id, grant.userId, toNarrowing(grant));
    return { changed: true, scope: grant.scopes.at(-1) ?? '' };
  }
  if (grant.status !== 'active') return { changed: false };
  if (trigger === 'revoke') {
    await grants.revoke(grant.id, grant.userId);
    return { changed: true };
  }
  const changed = await change(null, async () => {
    const ended = await expire(ordinary, grant.id);
    evictions.publish({ case: 'grantId', value: grant.id });
    return ended;
  });
  return { changed };
}

/** Ends the time of an active grant now, as if it had run out, which adds no event either. Returns false when it had ended. */
async function expire(pool: pg.Pool, id: string): Promise<boolean> {
  return (await runStatement(pool, EXPIRE, id)) === 1;
}

function refuseEnded({ status }: Grant): void {
  if (status !== 'active') throw new AppError('conflict', `The grant is ${status}.`);
}

function toNarrowing({ scopes }: Grant) {
  if (scopes.length > 1) return { scopes: scopes.slice(0, -1), expiresAt: null, dataFrom: null };
  throw new AppError('conflict', 'The grant has one scope only; revoke it to withdraw that one.');
}
