import type { KeyObject } from 'node:crypto';
import { mayShareWith } from '@phds/catalog/sandbox';
import { isScope } from '@phds/catalog/scopes';
import type { Clock } from '@phds/service-kit/clock';
import { AppError } from '@phds/service-kit/errors';
import { deriveSecret, sha256 } from '@phds/service-kit/secrets';
import type { AuthorizationRequest } from '../domain/authorization-request.ts';
import type { AuthorizationCode } from '../domain/code.ts';
import { isUsable } from '../domain/code.ts';
import { addQuery } from '../domain/redirect-uri.ts';
import { addSeconds } from '../domain/token.ts';
import type { Approval, AuthorizationStore } from './ports.ts';

/**
 * Returns the app's redirect URI with the code of an approval, state and iss. The code is derived from the pending id, so a repeat
 * returns the same one while it is unused; afterwards it throws `already_decided`.
 */
export type IssueCode = (request: AuthorizationRequest, approval: Approval) => Promise<string>;

export function createIssueCode(dependencies: {
  readonly authorizations: Pick<AuthorizationStore, 'putCode'>;
  readonly clock: Clock;
  readonly issuer: string;
  readonly derivationKey: KeyObject;
  readonly codeSeconds: number;
}): IssueCode {
  const { authorizations, clock, issuer, derivationKey, codeSeconds } = dependencies;
  return async (request, approval) => {
    if (approval.clientId !== request.clientId || !mayShareWith(approval.userId, request.clientId)) {
      throw new AppError('internal', '', { cause: 'consent names another app or environment' });
    }
    const code = deriveSecret('authorization_code', derivationKey, 'code', request.pendingId);
    const standing = await authorizations.putCode(toCode(request, approval, code, codeSeconds));
    if (!isUsable(standing, clock.now())) {
      throw new AppError('already_decided', 'The approval was decided and its code is used or expired.');
    }
    return addQuery(request.redirectUri, { code, state: request.state, iss: issuer });
  };
}

function toCode(
  request: AuthorizationRequest,
  approval: Approval,
  code: string,
  codeSeconds: number,
): AuthorizationCode {
  return {
    hash: sha256(code),
    pendingId: request.pendingId,
    clientId: request.clientId,
    userId: approval.userId,
    grantId: approval.grantId,
    scopes: approval.scopes.filter(isScope),
    includeGrantedScopes: request.includeGrantedScopes,
    redirectUri: request.redirectUri,
    codeChallenge: request.codeChallenge,
    appEpoch: approval.appEpoch,
    issuedAt: approval.decidedAt,
    expiresAt: addSeconds(approval.decidedAt, codeSeconds),
    consumedAt: null,
    familyId: null,
    failedAttempts: 0,
    suspended: false,
  };
}
