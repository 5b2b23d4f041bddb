import type { Language } from '@phds/catalog/languages';
import { type Scope, scopeTexts } from '@phds/catalog/scopes';
import { notFound } from '@phds/service-kit/errors';
import { newId } from '@phds/service-kit/ids';
import { type ApprovalChoice, decideApproval, decideDenial } from '../domain/decision.ts';
import type { Grant } from '../domain/grant.ts';
import type { ShownScope } from '../domain/receipt.ts';
import type { Approved, DecisionStore, EvictionPublisher } from './ports.ts';
import { toRevision } from './revisions.ts';

/** What the approval screen showed. */
export interface Screen {
  readonly language: Language;
  /** The revision of the live grant; null when the caller does not say. */
  readonly revision: string | null;
}

/** Decisions on the approval screen. */
export interface Decisions {
  /**
   * Creates the grant or joins the live one. Repeating the same decision returns the same result. Throws as documented for the rpc
   * Approve.
   */
  approve(pendingId: string, userId: string, choice: ApprovalChoice, screen: Screen): Promise<Approved>;
  /** Returns the time of the denial. Throws `not_found`, `already_decided`, `pending_expired`. */
  deny(pendingId: string, userId: string): Promise<Date>;
}

export function createDecisions(dependencies: {
  readonly decisions: DecisionStore;
  readonly evictions: EvictionPublisher;
}): Decisions {
  const { decisions, evictions } = dependencies;
  return {
    async approve(pendingId, userId, choice, { language, revision }) {
      const command = {
        pendingId,
        userId,
        language,
        newGrantId: newId('grt'),
        describe: describeIn(language),
      };
      const approved = await decisions.approve(command, (facts) => {
        const isOutdated = revision !== null && revision !== revisionOf(facts.liveGrant);
        return decideApproval(facts, choice, isOutdated);
      });
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

function revisionOf(live: Grant | null): string {
  return toRevision(live === null ? null : { ...live, grantId: live.id });
}

/** The texts of the approval screen, stored with the decision because the catalog may change. */
function describeIn(language: Language): (scopes: readonly Scope[]) => ShownScope[] {
  const texts = scopeTexts(language);
  return (scopes) =>
    scopes.map((scope) => {
      // A request may be older than this release, and ask for a scope that it does not have.
      const { title, description } = texts[scope] ?? { title: scope, description: '' };
      return { scope, title, description };
    });
}
