import {
  isSandboxApp,
  isSandboxPerson,
  SANDBOX_PERSON_DEFAULT,
  toSandboxUserId,
} from '@phds/catalog/sandbox';
import { AppError, invalidRequest, notFound } from '@phds/service-kit/errors';
import type { Grant } from '../domain/grant.ts';
import type { Decisions } from './decisions.ts';
import type { Grants } from './grants.ts';
import type { Approved, EvictionPublisher, SandboxGrantStore } from './ports.ts';

/** What a developer can let happen to a grant in a sandbox deployment. */
export type GrantTrigger = 'narrow' | 'revoke' | 'expire';

/** A grant as a developer names it. */
export interface NamedGrant {
  readonly ownerId: string;
  readonly clientId: string;
  readonly grantId: string;
}

/** The made-up people of sandbox apps. */
export interface Sandbox {
  /** Approves everything for the person; as Decisions.approve. */
  approve(pendingId: string, clientId: string, person: string): Promise<Approved & { userId: string }>;
  /** As Decisions.deny. */
  deny(pendingId: string, clientId: string): Promise<void>;
  /** A live grant. Throws as documented for the rpc FindSandboxGrant. */
  find(named: NamedGrant): Promise<Grant>;
  /** Returns whether anything changed, and the withdrawn scope. Throws as documented for the rpc ChangeSandboxGrant. */
  change(named: NamedGrant, trigger: GrantTrigger): Promise<{ changed: boolean; scope?: string }>;
}

export function createSandbox(dependencies: {
  readonly decisions: Decisions;
  readonly grants: Pick<Grants, 'narrow' | 'revoke'>;
  readonly sandboxGrants: SandboxGrantStore;
  readonly evictions: EvictionPublisher;
  /** Whether the deployment is a sandbox. */
  readonly isSandbox: boolean;
}): Sandbox {
  const { decisions, grants, sandboxGrants, evictions, isSandbox } = dependencies;

  async function getGrant({ ownerId, clientId, grantId }: NamedGrant): Promise<Grant> {
    const isOwner = isSandbox && (await sandboxGrants.isOwner(ownerId, clientId));
    const grant = isOwner ? await sandboxGrants.find(grantId, clientId) : null;
    if (grant === null) throw notFound();
    return grant;
  }

  return {
    async approve(pendingId, clientId, person) {
      const userId = toUserId(clientId, person);
      const choice = { scopes: null, days: null, dataFrom: null };
      const screen = { language: 'en', revision: null } as const;
      const approved = await decisions.approve(pendingId, userId, choice, screen);
      return { ...approved, userId };
    },

    async deny(pendingId, clientId) {
      await decisions.deny(pendingId, toUserId(clientId, SANDBOX_PERSON_DEFAULT));
    },

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

function toUserId(clientId: string, person: string): string {
  if (!isSandboxApp(clientId)) throw invalidRequest('clientId', 'must be a sandbox app');
  if (!isSandboxPerson(person)) throw invalidRequest('person', 'must be a sandbox person');
  return toSandboxUserId(clientId, person);
}

function refuseEnded({ status }: Grant): void {
  if (status !== 'active') throw new AppError('conflict', `The grant is ${status}.`);
}

function toNarrowing({ scopes }: Grant) {
  if (scopes.length > 1) return { scopes: scopes.slice(0, -1), expiresAt: null, dataFrom: null };
  throw new AppError('conflict', 'The grant has one scope only; revoke it to withdraw that one.');
}
