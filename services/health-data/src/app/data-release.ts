import { acceptedScopes, type DataPath } from '@phds/catalog/endpoints';
import { AppError, invalidRequest, unauthorized } from '@phds/service-kit/errors';
import type { Caller } from './caller.ts';
import { resolveParameters, type SentRequest } from './data-request.ts';
import { type Document, toDocument } from './document.ts';
import type { AccessRecorder, Verdict } from './ports.ts';
import type { PublicIds } from './public-ids.ts';
import { type DataPorts, readResource } from './resources.ts';

export interface ReleasePorts {
  readonly data: DataPorts;
  readonly recorder: AccessRecorder;
  readonly publicIds: PublicIds;
}

/**
 * The only path by which a user's data is released to an app: check the token's scope and the parameters, read
 * the rows, record the access durably, and release the response only if consent then judges the access alive.
 */
export async function releaseData(
  { data, recorder, publicIds }: ReleasePorts,
  caller: Caller,
  { path, medicationId, parameters: sent, requestId, scope: asked }: SentRequest,
): Promise<Document> {
  const scope = chooseScope(path, sent.type, asked);
  checkAdmission(caller, scope);
  const parameters = resolveParameters(sent, path);
  const { clientId, userId, dataFrom } = caller;
  const ids = publicIds(clientId);
  const request = { path, medicationId, parameters, askedBy: clientId, ids, userId, dataFrom };
  const answer = await readResource(data, request);
  const verdict = await recorder.record({
    clientId,
    userId,
    grantId: caller.grantId,
    familyId: caller.familyId,
    tokenHash: caller.tokenHash,
    tokenExpiresAt: caller.tokenExpiresAt,
    scope,
    endpoint: path.path,
    from: sent.from,
    to: sent.to,
    page: parameters.page,
    recordCount: answer instanceof AppError ? 0 : answer.recordCount,
    requestId,
    dataFrom,
  });
  if (verdict !== 'released') throw toRefusal(verdict, scope);
  if (answer instanceof AppError) throw answer;
  return toDocument(answer, ids);
}

/** The scope by which a request is judged: the asked one, if it opens the request. */
function chooseScope(path: DataPath, type: string, asked: string): string {
  // Nearly all requests are opened by one scope.
  if (asked === '' || asked === path.scope) return path.scope;
  if ((acceptedScopes(path, type) as readonly string[]).includes(asked)) return asked;
  throw invalidRequest('scope', 'does not open this request');
}

/** Refuses calls that no judgement could release, before any row is read. Expiry is judged by the ledger's clock. */
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
