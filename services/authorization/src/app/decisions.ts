import { isScope } from '@phds/catalog/scopes';
import type { Clock } from '@phds/service-kit/clock';
import { AppError, notFound } from '@phds/service-kit/errors';
import { isId } from '@phds/service-kit/ids';
import { deriveSecret, sha256 } from '@phds/service-kit/secrets';
import type { AuthorizationRequest } from '../domain/authorization-request.ts';
import type { AuthorizationCode } from '../domain/code.ts';
import { isUsable } from '../domain/code.ts';
import { addQuery } from '../domain/redirect-uri.ts';
import { addSeconds } from '../domain/token.ts';
import type { Approval, AuthorizationStore, ConsentApprovals, Decision } from './ports.ts';

/** What the user's browser needs after an approval. */
export interface Completed extends Pick<Approval, 'grantId' | 'scopes' | 'grantExpiresAt'> {
  /** The app's redirect URI with code, state and iss. */
  readonly redirectUri: string;
}

/** A user's decision about a pending approval. The consent service judges the session and the decision. */
export interface Decisions {
  /**
   * Grant first (consent), then the code. The code is derived from the pending id, so the same decision again finishes the
   * job or answers the same while the code is unused; throws `already_decided` after that.
   */
  approve(session: string, decision: Decision): Promise<Completed>;
  /** Answers the app's redirect URI with error=access_denied, state and iss. */
  deny(session: string, pendingId: string): Promise<string>;
}

export interface DecisionsDependencies {
  readonly authorizations: AuthorizationStore;
  readonly approvals: ConsentApprovals;
  readonly clock: Clock;
  readonly issuer: string;
  readonly derivationKey: Uint8Array;
  readonly codeSeconds: number;
}

export function createDecisions(dependencies: DecisionsDependencies): Decisions {
  const { authorizations, approvals, clock, issuer, derivationKey, codeSeconds } = dependencies;

  async function getRequest(pendingId: string): Promise<AuthorizationRequest> {
    const request = isId('apr', pendingId) ? await authorizations.findRequest(pendingId) : null;
    if (request === null) throw notFound();
    return request;
  }

  function toCode(request: AuthorizationRequest, approval: Approval, code: string): AuthorizationCode {
    return {
      hash: sha256(code),
      pendingId: request.pendingId,
      clientId: request.clientId,
      userId: approval.userId,
      grantId: approval.grantId,
      scopes: approval.scopes.filter(isScope),
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

  return {
    async approve(session, decision) {
      const request = await getRequest(decision.pendingId);
      const approval = await approvals.approve(session, decision);
      if (approval.clientId !== request.clientId) {
        throw new AppError('internal', '', { cause: 'consent names another app for this pending approval' });
      }
      const code = deriveSecret('authorization_code', derivationKey, 'code', request.pendingId);
      const standing = await authorizations.putCode(toCode(request, approval, code));
      if (!isUsable(standing, clock.now())) {
        throw new AppError('already_decided', 'The approval was decided and its code is used or expired.');
      }
      const { grantId, scopes, grantExpiresAt } = approval;
      const redirectUri = addQuery(request.redirectUri, { code, state: request.state, iss: issuer });
      return { grantId, scopes, grantExpiresAt, redirectUri };
    },

    async deny(session, pendingId) {
      const request = await getRequest(pendingId);
      await approvals.deny(session, pendingId);
      return addQuery(request.redirectUri, { error: 'access_denied', state: request.state, iss: issuer });
    },
  };
}
