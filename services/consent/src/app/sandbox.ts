import { AppError, notFound } from '@phds/service-kit/errors';
import type { Grant } from '../domain/grant.ts';
import type { Grants } from './grants.ts';
import type { EvictionPublisher, SandboxGrantStore } from './ports.ts';

/** What a developer can let happen to a grant. */
export type GrantTrigger = 'narrow' | 'revoke' | 'expire';

/** A grant as a developer names it. */
export interface NamedGrant {
  readonly ownerId: string;
  readonly clientId: string;
  readonly grantId: string;
}

/** What a developer does to a grant of an own app, in a sandbox deployment. */
export interface Sandbox {
  /** A live grant. Throws as documented for the rpc FindSandboxGrant. */
  find(named: NamedGrant): Promise<Grant>;
  /** Returns whether anything changed, and the withdrawn scope. Throws as documented for the rpc ChangeSandboxGrant. */
  change(named: NamedGrant, trigger: GrantTrigger): Promise<{ changed: boolean; scope?: string }>;
}

export function createSandbox(dependencies: {
  readonly grants: Pick<Grants, 'narrow' | 'revoke'>;
  readonly sandboxGrants: SandboxGrantStore;
  readonly evictions: EvictionPublisher;
}): Sandbox {
  const { grants, sandboxGrants, evictions } = dependencies;

  async function getGrant({ ownerId, clientId, grantId }: NamedGrant): Promise<Grant> {
    const isOwner = await sandboxGrants.isOwner(ownerId, clientId);
    const grant = isOwner ? await sandboxGrants.find(grantId, clientId) : null;
    if (grant === null) throw notFound();
    return grant;
  }

  return {
    async find(named) {
      const grant = await getGrant(named);
      refuseEnded(grant);
      return grant;
    },

    async change(named, trigger) {
      const grant = await getGrant(named);
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
      const changed = await sandboxGrants.expire(grant.id);
      evictions.publish({ case: 'grantId', value: grant.id });
      return { changed };
    },
  };
}

function refuseEnded({ status }: Grant): void {
  if (status !== 'active') throw new AppError('conflict', `The grant is ${status}.`);
}

function toNarrowing({ scopes }: Grant) {
  if (scopes.length > 1) return { scopes: scopes.slice(0, -1), expiresAt: null, dataFrom: null };
  throw new AppError('conflict', 'The grant has one scope only; revoke it to withdraw that one.');
}
