import { PENDING_APPROVAL_SECONDS } from '@phds/catalog/lifetimes';
import type { Listed, Page } from '@phds/catalog/pagination';
import { AppError, notFound } from '@phds/service-kit/errors';
import { refuseExtension, refuseFinal } from '../domain/decision.ts';
import type { PendingApprovalView, PendingStatus } from '../domain/pending-approval.ts';
import type { OpenedApproval, OpeningRequest, PendingApprovalStore } from './ports.ts';

/** Requests for a person's approval. */
export interface PendingApprovals {
  /** Throws `app_not_active`, `rate_limited`; `conflict` when another app's request has the id. */
  open(request: OpeningRequest): Promise<OpenedApproval>;
  /** Reads, and claims it if it is unclaimed and `claiming`. Throws `not_found`. */
  get(id: string, userId: string, how: { readonly claiming: boolean }): Promise<PendingApprovalView>;
  /** Gives the claimant more time to decide; returns the new end. Throws as documented for the rpc ExtendPendingApproval. */
  extend(id: string, userId: string): Promise<Date>;
  /** The next person who reads it claims it. Throws `not_found`, `already_decided`, `pending_expired`. */
  release(id: string, userId: string): Promise<void>;
  list(userId: string, status: PendingStatus | null, page: Page): Promise<Listed<PendingApprovalView>>;
}

export function createPendingApprovals(dependencies: {
  readonly pendingApprovals: PendingApprovalStore;
  readonly maxLivePerApp: number;
}): PendingApprovals {
  const { pendingApprovals, maxLivePerApp } = dependencies;
  return {
    async open(request) {
      const opening = await pendingApprovals.open(request, {
        lifetimeSeconds: PENDING_APPROVAL_SECONDS,
        maxLive: maxLivePerApp,
      });
      switch (opening.kind) {
        case 'opened':
          return opening;
        case 'app_not_active':
          throw new AppError('app_not_active', 'The app is not active.');
        case 'id_taken':
          throw new AppError('conflict', 'The id belongs to another request.');
        case 'too_many':
          throw new AppError('rate_limited', 'Too many requests of this app wait for a decision.', {
            retryAfterSeconds: opening.retryAfterSeconds,
          });
      }
    },
    async get(id, userId, { claiming }) {
      const pending = await (claiming
        ? pendingApprovals.claim(id, userId)
        : pendingApprovals.find(id, userId));
      if (pending === null) throw notFound();
      return pending;
    },
    async extend(id, userId) {
      const end = await pendingApprovals.extend(id, userId, PENDING_APPROVAL_SECONDS, refuseExtension);
      if (end === null) throw notFound();
      return end;
    },
    async release(id, userId) {
      if (!(await pendingApprovals.release(id, userId, refuseFinal))) throw notFound();
    },
    list: (userId, status, page) => pendingApprovals.list(userId, status, page),
  };
}
