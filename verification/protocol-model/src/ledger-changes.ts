import { type Access, type Approved, type GrantRow, type LedgerState, statusOf, withRow } from './ledger.ts';
import type { VariantName } from './variants.ts';
import { refused } from './world.ts';

/** What a transaction makes of the state it finds under its locks. */
export type Change<T> = (
  state: LedgerState,
  now: number,
) => {
  readonly state: LedgerState;
  readonly answer: T;
};

export interface ApprovalCommand {
  readonly pending: string;
  readonly scopes: readonly string[];
  readonly lifeMs: number;
  readonly newGrant: string;
  readonly variant: VariantName | null;
}

/** Adds an access record, as one that was released. */
export function changeOfRecord(id: string, access: Access, at: number): Change<void> {
  return (state, databaseTime) => {
    const row = { access, at, databaseTime, refused: false };
    return { state: { ...state, records: withRow(state.records, id, row) }, answer: undefined };
  };
}

/** Notes that an answer was refused after all. */
export function changeOfRefusal(id: string): Change<void> {
  return (state) => {
    const row = state.records.get(id);
    if (row === undefined) return { state, answer: undefined };
    const records = withRow(state.records, id, { ...row, refused: true });
    return { state: { ...state, records }, answer: undefined };
  };
}

/** Makes a grant, or joins the live one with the scopes (old minus asked) union approved. */
export function changeOfApproval(
  state: LedgerState,
  now: number,
  { pending: id, scopes, lifeMs, newGrant, variant }: ApprovalCommand,
): ReturnType<Change<Approved>> {
  const pending = state.pending.get(id);
  if (pending === undefined) throw refused('not_found');
  if (pending.decided !== null) return { state, answer: pending.decided };
  const { user, app, epoch, asked } = pending;
  const standing = state.apps.get(app);
  if (standing?.status !== 'active') throw refused('app_not_active');
  if (standing.epoch !== epoch) throw refused('already_decided');
  const open = [...state.grants.values()].find(
    (grant) => grant.open && grant.user === user && grant.app === app,
  );
  const joinable =
    open !== undefined &&
    (statusOf(state, open, now) === 'active' || variant === 'ended-grant-joined-by-a-re-approval');
  const old = joinable ? open.scopes.filter((scope) => !asked.includes(scope)) : [];
  const grant: GrantRow = {
    ...(joinable ? open : { id: newGrant, user, app, epoch, revoked: false, open: true }),
    scopes: [...new Set([...old, ...scopes])],
    expiresAt: now + lifeMs,
  };
  let { grants } = state;
  if (open !== undefined && !joinable) grants = withRow(grants, open.id, { ...open, open: false });
  grants = withRow(grants, grant.id, grant);
  const decided = { grant: grant.id, user, app, epoch, scopes };
  return {
    state: { ...state, grants, pending: withRow(state.pending, id, { ...pending, decided }) },
    answer: decided,
  };
}
