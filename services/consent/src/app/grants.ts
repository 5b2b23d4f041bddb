import type { Listed, Page } from '@phds/catalog/pagination';
import { AppError, invalidRequest, notFound } from '@phds/service-kit/errors';
import {
  type ConnectedApp,
  type Grant,
  type GrantStatus,
  type GrantView,
  type Narrowing,
  narrowTerms,
  sameTerms,
} from '../domain/grant.ts';
import type { AppGrantFilter, EvictionPublisher, GrantStore } from './ports.ts';

/** A person's consent and how to withdraw it. Another person's grants are `not_found`. */
export interface Grants {
  list(userId: string, status: GrantStatus | null, page: Page): Promise<Listed<GrantView>>;
  get(id: string, userId: string): Promise<GrantView>;
  /** A grant of any person. */
  getAny(id: string): Promise<GrantView>;
  /** In effect before it returns. Throws `conflict` for an ended grant, `invalid_request` for a widening. */
  narrow(id: string, userId: string, narrowing: Narrowing): Promise<GrantView>;
  /** In effect before it returns; returns the time of the revocation. */
  revoke(id: string, userId: string): Promise<Date>;
  /** In effect before it returns; returns how many were active. */
  revokeAll(userId: string): Promise<number>;
  /** `before` is the id of a grant. */
  listOfApp(clientId: string, filter: AppGrantFilter<string>, page: Page): Promise<Listed<Grant>>;
  /** A grant of this app. Another app's is `not_found`. */
  getOfApp(id: string, clientId: string): Promise<Grant>;
  /** Ends a grant for its app, like `revoke` for its person. */
  revokeByApp(id: string, clientId: string): Promise<Date>;
  /** Ends a grant of any person, like `revoke` for its person. */
  endByOperator(id: string): Promise<Date>;
  /** The apps that have or had a grant of the person, the one with the latest grant first. */
  listApps(userId: string, page: Page): Promise<Listed<ConnectedApp>>;
  /** Asks the app to delete what it has read; returns the time of the first request. Also for an ended grant. */
  requestDeletion(id: string, userId: string): Promise<Date>;
}

export function createGrants(dependencies: {
  readonly grants: Pick<
    GrantStore,
    'list' | 'find' | 'findAny' | 'listOfApp' | 'findOfApp' | 'listApps' | 'requestDeletion'
  >;
  /** The same grants through a separate connection pool for withdrawals. */
  readonly withdrawals: Pick<
    GrantStore,
    'find' | 'change' | 'revoke' | 'revokeByApp' | 'revokeByOperator' | 'revokeAll'
  >;
  readonly evictions: EvictionPublisher;
  /** Called for each of them; `phds restore replay` reads the log of it after a restore (docs/operations/restore-and-backup.md#after-a-restore). */
  readonly onWithdrawn: (what: 'grant ended' | 'grant narrowed', grantId: string) => void;
}): Grants {
  const { grants, withdrawals, evictions, onWithdrawn } = dependencies;
  const evict = (grantId: string) => evictions.publish({ case: 'grantId', value: grantId });
  const getFrom = async (source: Pick<GrantStore, 'find'>, id: string, userId: string) => {
    const grant = await source.find(id, userId);
    if (grant === null) throw notFound();
    return grant;
  };
  const ended = (grantId: string) => {
    evict(grantId);
    onWithdrawn('grant ended', grantId);
  };
  const revoked = async (id: string, revoking: Promise<Date | null>) => {
    const revokedAt = await revoking;
    if (revokedAt === null) throw notFound();
    ended(id);
    return revokedAt;
  };
  return {
    get: (id, userId) => getFrom(grants, id, userId),
    async getAny(id) {
      const grant = await grants.findAny(id);
      if (grant === null) throw notFound();
      return grant;
    },
    list: (userId, status, page) => grants.list(userId, status, page),
    async narrow(id, userId, narrowing) {
      const known = await withdrawals.change(id, userId, (grant, now) => narrow(grant, narrowing, now));
      if (!known) throw notFound();
      evict(id);
      onWithdrawn('grant narrowed', id);
      return getFrom(withdrawals, id, userId);
    },
    revoke: (id, userId) => revoked(id, withdrawals.revoke(id, userId)),
    revokeByApp: (id, clientId) => revoked(id, withdrawals.revokeByApp(id, clientId)),
    endByOperator: (id) => revoked(id, withdrawals.revokeByOperator(id)),
    async revokeAll(userId) {
      const revoked = await withdrawals.revokeAll(userId);
      for (const id of revoked) ended(id);
      return revoked.length;
    },
    async listOfApp(clientId, filter, page) {
      const before = filter.before === null ? null : await grants.findOfApp(filter.before, clientId);
      if (filter.before !== null && before === null)
        throw invalidRequest('before', 'must be the id of a grant of this app');
      return grants.listOfApp(clientId, { ...filter, before }, page);
    },
    async getOfApp(id, clientId) {
      const grant = await grants.findOfApp(id, clientId);
      if (grant === null) throw notFound();
      return grant;
    },
    listApps: (userId, page) => grants.listApps(userId, page),
    async requestDeletion(id, userId) {
      const requestedAt = await grants.requestDeletion(id, userId);
      if (requestedAt === null) throw notFound();
      return requestedAt;
    },
  };
}

function narrow(grant: Grant, narrowing: Narrowing, now: Date) {
  if (grant.status !== 'active') throw new AppError('conflict', `The grant is ${grant.status}.`);
  const terms = narrowTerms(grant, narrowing, now);
  return sameTerms(grant, terms) ? null : terms;
}
