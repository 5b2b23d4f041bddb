import type { DataPath } from '@phds/catalog/endpoints';
import { AppError, unauthorized } from '@phds/service-kit/errors';
import type { Caller } from './caller.ts';
import { type Answer, type Document, toDocument } from './document.ts';
import type { AccessRecorder, Verdict } from './ports.ts';
import type { PublicIds, ReaderIds } from './public-ids.ts';
import { parseReadQuery, type RawQuery, type ReadQuery } from './read-request.ts';

export interface ReleaseDependencies {
  readonly recorder: AccessRecorder;
  readonly publicIds: PublicIds;
}

/** What a resource is asked to read. */
export interface ReadScope {
  /** The app, or the person themselves. */
  readonly askedBy: string;
  /** Its ids. */
  readonly ids: ReaderIds;
  readonly userId: string;
  readonly query: ReadQuery;
  /** How far back the app sees (YYYY-MM-DD); null is everything. */
  readonly dataFrom: string | null;
}

/**
 * Reads a user's rows and encodes them. An error that depends on them ("not there") is returned, not thrown: it tells of the user as
 * any answer does, so it is recorded and judged like one.
 */
export type Read = (scope: ReadScope) => Promise<Answer | AppError>;

/**
 * The one way on which a user's data leaves for an app (contract section 8): the token's scope, the parameters, the
 * rows, a durable record of the access, and only when that record was judged alive the answer.
 */
export async function readReleased(
  { recorder, publicIds }: ReleaseDependencies,
  caller: Caller,
  path: DataPath,
  raw: RawQuery,
  read: Read,
): Promise<Document> {
  checkAdmission(caller, path.scope);
  const query = parseReadQuery(raw, path);
  const { clientId, userId, dataFrom } = caller;
  const ids = publicIds(clientId);
  const answer = await read({ askedBy: clientId, ids, userId, query, dataFrom });
  const verdict = await recorder.record({
    clientId,
    userId,
    grantId: caller.grantId,
    familyId: caller.familyId,
    tokenHash: caller.tokenHash,
    tokenExpiresAt: caller.tokenExpiresAt,
    scope: path.scope,
    endpoint: path.path,
    from: raw.from,
    to: raw.to,
    page: query.page,
    recordCount: answer instanceof AppError ? 0 : answer.recordCount,
    requestId: raw.requestId,
    dataFrom,
  });
  if (verdict !== 'released') throw toRefusal(verdict, path.scope);
  if (answer instanceof AppError) throw answer;
  return toDocument(answer, ids);
}

/** Refuses what no judgement could release, before a row is read. Expiry is not among it: the ledger's clock decides. */
function checkAdmission(caller: Caller, scope: string): void {
  if (!caller.scopes.includes(scope)) {
    throw new AppError('insufficient_scope', `The token lacks the scope ${scope}.`, { requiredScope: scope });
  }
  if (caller.userId === '') throw consentRequired(scope);
}

function toRefusal(verdict: Exclude<Verdict, 'released'>, scope: string): AppError {
  switch (verdict) {
    case 'token_expired':
      return new AppError('token_expired');
    case 'grant_expired':
    case 'scope_withdrawn':
      return consentRequired(scope);
    case 'window_changed':
      return new AppError('assertion_stale');
    case 'token_revoked':
    case 'family_revoked':
    case 'grant_revoked':
    case 'app_not_alive':
    case 'restore_unconfirmed':
      return unauthorized(verdict);
  }
}

function consentRequired(scope: string): AppError {
  return new AppError('consent_required', 'No active consent covers this request.', { requiredScope: scope });
}
