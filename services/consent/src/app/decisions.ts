import type { Language } from '@phds/catalog/languages';
import { type Scope, scopeTexts } from '@phds/catalog/scopes';
import { type AppError, notFound } from '@phds/service-kit/errors';
import { newId } from '@phds/service-kit/ids';
import { type ApprovalChoice, decideApproval, decideDenial } from '../domain/decision.ts';
import type { ShownScope } from '../domain/receipt.ts';
import type { Approved, DecisionStore, EvictionPublisher } from './ports.ts';

/** The person who approves. */
export interface Approver {
  readonly userId: string;
  /** Why the sign-in is not enough to share more of a sensitive scope; null if it is. */
  readonly sensitiveRefusal: AppError | null;
}

/** Decisions on the approval screen. */
export interface Decisions {
  /**
   * Creates the grant or joins the live one. Repeating the same decision returns the same result. Throws as documented for the rpc
   * Approve.
   */
  approve(pendingId: string, approver: Approver, choice: ApprovalChoice, language: Language): Promise<Approved>;
  /** Returns the time of the denial. Throws `not_found`, `already_decided`, `pending_expired`. */
  deny(pendingId: string, userId: string): Promise<Date>;
}

export function createDecisions(dependencies: {
  readonly decisions: DecisionStore;
  readonly evictions: EvictionPublisher;
}): Decisions {
  const { decisions, evictions } = dependencies;
  return {
    async approve(pendingId, { userId, sensitiveRefusal }, choice, language) {
      const command = { pendingId, userId, language, newGrantId: newId('grt'), describe: describeIn(language) };
      const approved = await decisions.approve(command, (facts) =>
        decideApproval(facts, choice, sensitiveRefusal),
      );
      if (approved === null) throw notFound();
      // The joined grant may have lost scopes or have another data window.
      if (approved.joined) evictions.publish({ case: 'grantId', value: approved.grantId });
      return approved;
    },
    async deny(pendingId, userId) {
      const deniedAt = await decisions.deny(pendingId, userId, decideDenial);
      if (deniedAt === null) throw notFound();
      return deniedAt;
    },
  };
}

/** The texts of the approval screen, stored with the decision because the catalog may change. */
function describeIn(language: Language): (scopes: readonly Scope[]) => ShownScope[] {
  const texts = scopeTexts(language);
  return (scopes) =>
    scopes.map((scope) => {
      const { title, description } = texts[scope];
      return { scope, title, description };
    });
}
