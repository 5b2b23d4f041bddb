import { PENDING_APPROVAL_SECONDS } from '@phds/catalog/lifetimes';
import type { Listed, Page } from '@phds/catalog/pagination';
import { AppError, notFound } from '@phds/service-kit/errors';
import type { PendingApprovalView, PendingStatus } from '../domain/pending-approval.ts';
import type { OpenedApproval, OpeningRequest, PendingApprovalStore } from './ports.ts';

/** Requests for a person's approval. */
export interface PendingApprovals {
  /** Throws `app_not_active`, `rate_limited`; `conflict` when another app's request has the id. */
  open(request: OpeningRequest): Promise<OpenedApproval>;
  /** Reads and claims. Throws `not_found`. */
  get(id: string, userId: string): Promise<PendingApprovalView>;
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
    async get(id, userId) {
      const pending = await pendingApprovals.claim(id, userId);
      if (pending === null) throw notFound();
      return pending;
    },
    list: (userId, status, page) => pendingApprovals.list(userId, status, page),
  };
}
