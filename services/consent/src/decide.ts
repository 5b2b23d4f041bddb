import type { Language } from '@phds/catalog/languages';
import { type Scope, scopeTexts } from '@phds/catalog/scopes';
import { newId } from '@phds/service-kit/ids';
import { queryRows, readStatement, runStatement, transact } from '@phds/service-kit/postgres/sql';
import type { RestoreGuard } from '@phds/service-kit/restore/guard';
import type pg from 'pg';
import type { AppStatus } from './apps.ts';
import type { Change } from './changes.ts';
import { addEvent, type ShownScope } from './consent-events.ts';
import {
  type ApprovalChoice,
  type ApprovalOutcome,
  type DecisionFacts,
  decideApproval,
  decideDenial,
} from './decision.ts';
import { type Grant, type GrantRow, JOIN_MARGIN_SECONDS, toGrant } from './grant-rows.ts';
import { lockPending, readPending } from './pending-approvals.ts';
import { addPerson, keepPerson } from './people.ts';
import type { EvictionPublisher } from './redis-evictions.ts';
import { sameTerms, sharesLess, toRevision } from './terms.ts';
import { announceApproval, toTermsContent, writeNarrowed } from './webhooks/events.ts';

/** An approval on the approval screen, by the person who claimed the request. */
interface ApproveCommand {
  readonly pendingId: string;
  readonly userId: string;
  readonly choice: ApprovalChoice;
  readonly language: Language;
  /** The revision of the live grant that the screen showed; null when the caller does not say. */
  readonly revision: string | null;
}

/** An approval, decided now or earlier. */
interface Approved {
  readonly grantId: string;
  readonly clientId: string;
  readonly userId: string;
  readonly appEpoch: number;
  readonly scopes: readonly string[];
  readonly grantExpiresAt: Date;
  readonly decidedAt: Date;
  readonly repeatedDecision: boolean;
  /** Whether an existing live grant was changed. */
  readonly joined: boolean;
}

const LOCK_PAIR = readStatement(new URL('store/sql/lock-pair.sql', import.meta.url));
const SHARE_APP = readStatement(new URL('store/sql/share-app.sql', import.meta.url));
const LOCK_OPEN_GRANT = readStatement(new URL('store/sql/lock-open-grant.sql', import.meta.url));
const READ_OPEN_GRANT = readStatement(new URL('store/sql/read-open-grant.sql', import.meta.url));
const CHANGE_GRANT = readStatement(new URL('store/sql/change-grant.sql', import.meta.url));
const CLOSE_GRANT = readStatement(new URL('store/sql/close-grant.sql', import.meta.url));
const INSERT_GRANT = readStatement(new URL('store/sql/insert-grant.sql', import.meta.url));
const MARK_APPROVED = readStatement(new URL('store/sql/mark-approved.sql', import.meta.url));
const DENY = readStatement(new URL('store/sql/deny-approval.sql', import.meta.url));

interface Parts {
  readonly pools: { readonly ordinary: pg.Pool };
  readonly guard: RestoreGuard;
  readonly change: Change;
  readonly evictions: EvictionPublisher;
}

interface LockedFacts extends DecisionFacts {
  /** The one row that the unique index allows: live, or ended but not yet closed. */
  readonly openGrant: Grant | null;
}

export type Decisions = ReturnType<typeof createDecisions>;

/**
 * Decisions on the approval screen, each in one transaction with facts that cannot change until it is committed. Lock order: person,
 * pending approval, user and app, app, grant. What is unknown, or claimed by another person, is `not_found`.
 */
export function createDecisions({ pools: { ordinary: pool }, guard, change, evictions }: Parts) {
  return {
    /**
     * Creates the grant or joins the live one. Repeating the same decision returns the same result. Throws as documented for the rpc
     * Approve.
     */
    approve: (command: ApproveCommand) =>
      change(null, async () => {
        const approved = await guard.verified(() =>
          transact(pool, async (tx) => {
            // Required to distinguish the joined grant from one that a restore brought back.
            await guard.requireVerified(tx);
            return approve(tx, command);
          }),
        );
        // The joined grant may have lost scopes or have another data window.
        if (approved.joined) evictions.publish({ case: 'grantId', value: approved.grantId });
        return approved;
      }),
    /** Returns the time of the denial. Throws `already_decided`, `pending_expired`. */
    deny: (pendingId: string, userId: string) =>
      change(null, () => transact(pool, (tx) => deny(tx, pendingId, userId))),
  };
}

async function approve(tx: pg.ClientBase, command: ApproveCommand): Promise<Approved> {
  const { pendingId, userId, choice, language, revision } = command;
  await keepPerson(tx, userId);
  const clientId = await lockPending(tx, pendingId, userId);
  const facts = await lockFacts(tx, command, clientId);
  const { appEpoch } = facts.pending;
  const isOutdated = revision !== null && revision !== revisionOf(facts.liveGrant);
  const outcome = decideApproval(facts, choice, isOutdated);
  const decision = { clientId, userId, appEpoch };
  if (outcome.kind === 'repeated') {
    const { approval, decidedAt } = outcome;
    return { ...decision, ...approval, decidedAt, repeatedDecision: true, joined: false };
  }
  const { scopes, terms, joins } = outcome;
  const grantId = joins ?? newId('grt');
  await writeGrant(tx, { ...decision, grantId }, outcome, facts);
  await addEvent(tx, {
    kind: 'granted',
    grantId,
    at: facts.now,
    terms,
    pendingId,
    purpose: facts.pending.purpose,
    language,
    shown: toShownScopes(scopes, language),
    shownApp: facts.pending.shownApp,
  });
  await markApproved(tx, command, grantId, outcome, facts.now);
  await addConnectionEvent(tx, grantId, outcome, facts);
  return {
    ...decision,
    grantId,
    scopes,
    grantExpiresAt: terms.expiresAt,
    decidedAt: facts.now,
    repeatedDecision: false,
    joined: joins !== null,
  };
}

function revisionOf(live: Grant | null): string {
  return toRevision(live === null ? null : { ...live, grantId: live.id });
}

/** The texts of the approval screen, stored with the decision because the catalog may change. */
function toShownScopes(scopes: readonly Scope[], language: Language): ShownScope[] {
  const texts = scopeTexts(language);
  return scopes.map((scope) => {
    // A request may be older than this release, and ask for a scope that it does not have.
    const { title, description } = texts[scope] ?? { title: scope, description: '' };
    return { scope, title, description };
  });
}

/** For the deployment: the connection began, or other terms than before were approved. */
async function addConnectionEvent(
  tx: pg.ClientBase,
  grantId: string,
  { joins, terms }: Approval,
  { liveGrant }: LockedFacts,
): Promise<void> {
  const content = toTermsContent(terms);
  if (joins === null || liveGrant === null) {
    await announceApproval(tx, grantId, 'connection.began', content);
  } else if (!sameTerms(liveGrant, terms)) {
    await announceApproval(tx, grantId, 'connection.changed', {
      ...content,
      before: toTermsContent(liveGrant),
    });
  }
}

async function deny(tx: pg.ClientBase, pendingId: string, userId: string): Promise<Date> {
  await lockPending(tx, pendingId, userId);
  const { pending, now } = await readPending(tx, pendingId);
  const deniedBefore = decideDenial(pending);
  if (deniedBefore !== null) return deniedBefore;
  await runStatement(tx, DENY, pendingId, userId, now);
  return now;
}

/** Facts are read by separate statements after the locks, in a fresh snapshot with the current clock. */
async function lockFacts(tx: pg.ClientBase, command: ApproveCommand, clientId: string): Promise<LockedFacts> {
  const { userId, pendingId } = command;
  await runStatement(tx, LOCK_PAIR, JSON.stringify([userId, clientId]));
  const [app] = await queryRows<{ status: AppStatus }>(tx, SHARE_APP, clientId);
  if (app === undefined) throw new Error(`pending approval ${pendingId} has no app`);
  await runStatement(tx, LOCK_OPEN_GRANT, userId, clientId);
  const [row] = await queryRows<GrantRow & { suspended: boolean }>(tx, READ_OPEN_GRANT, userId, clientId);
  const openGrant = row === undefined ? null : toGrant(row);
  const facts = await readPending(tx, pendingId);
  // A grant that a restore may have brought back is not joined; the new decision ends it, whatever is confirmed later.
  const liveGrant = row?.suspended === true ? null : toLiveGrant(openGrant, facts.now);
  return { ...facts, appStatus: app.status, openGrant, liveGrant };
}

/** The grant that an approval joins. One that might expire before this transaction commits counts as expired. */
function toLiveGrant(grant: Grant | null, now: Date): Grant | null {
  if (grant === null || grant.status !== 'active') return null;
  return grant.expiresAt.getTime() > now.getTime() + JOIN_MARGIN_SECONDS * 1000 ? grant : null;
}

type Approval = Extract<ApprovalOutcome, { kind: 'approved' }>;

async function writeGrant(
  tx: pg.ClientBase,
  grant: { grantId: string; userId: string; clientId: string; appEpoch: number },
  { joins, terms }: Approval,
  { openGrant, liveGrant, now }: LockedFacts,
): Promise<void> {
  if (joins !== null) {
    if (liveGrant !== null && sharesLess(terms, liveGrant)) {
      // For the deployment, all that an approval changes is one event.
      return writeNarrowed(tx, joins, terms, null);
    }
    await runStatement(tx, CHANGE_GRANT, joins, terms.scopes, terms.expiresAt, terms.dataFrom);
    return;
  }
  // Ends a grant in its last seconds, or a suspended one, so that scopes missing from the new approval do not remain in it.
  if (openGrant !== null) await runStatement(tx, CLOSE_GRANT, openGrant.id, now);
  await addPerson(tx, grant.userId);
  const { grantId, userId, clientId, appEpoch } = grant;
  const { scopes, expiresAt, dataFrom } = terms;
  const values = [grantId, userId, clientId, appEpoch, scopes, now, expiresAt, dataFrom];
  await runStatement(tx, INSERT_GRANT, ...values);
}

async function markApproved(
  tx: pg.ClientBase,
  { pendingId, userId }: ApproveCommand,
  grantId: string,
  { scopes, days, terms }: Approval,
  now: Date,
): Promise<void> {
  const approved = [scopes, days === 'kept' ? null : days, terms.dataFrom];
  await runStatement(tx, MARK_APPROVED, pendingId, userId, now, ...approved, grantId, terms.expiresAt);
}
