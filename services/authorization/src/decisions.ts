import type { KeyObject } from 'node:crypto';
import { isScope, type Scope } from '@phds/catalog/scopes';
import type { Clock } from '@phds/service-kit/clock';
import { AppError, notFound } from '@phds/service-kit/errors';
import { isId } from '@phds/service-kit/ids';
import { deriveSecret, sha256 } from '@phds/service-kit/secrets';
import type { ConsentApprovals } from './clients/consent.ts';
import type { Approval, Decision } from './clients/consent-messages.ts';
import { type App, codeSecondsOf } from './domain/app.ts';
import {
  type AuthorizationCode,
  type AuthorizationRequest,
  findSettingsFault,
  isUsable,
} from './domain/authorization-request.ts';
import { addQuery, isRegistered } from './domain/redirect-uri.ts';
import { addSeconds } from './domain/token.ts';
import type { AuthorizationStore } from './store/pg-authorizations.ts';
import type { AppStore } from './store/postgres-apps.ts';

/** The result of an approval for the user's browser. */
export interface Completed extends Pick<Approval, 'grantId' | 'scopes' | 'grantExpiresAt'> {
  /** The app's redirect URI with code, state and iss. */
  readonly redirectUri: string;
}

/** Decisions about pending approvals. Consent judges the session, a JWT, and the decision. */
export interface Decisions {
  /**
   * Consent creates the grant first, then the code is stored. The code is derived from the pending id, so repeating the same
   * decision completes it or returns the same code while it is unused; afterwards it throws `already_decided`. Throws `conflict`
   * when the app's current settings no longer allow an undecided or approved request, or consent finds that the person shares
   * something else with the app than the screen showed.
   */
  approve(session: string, decision: Decision): Promise<Completed>;
  /** Returns the app's redirect URI with error=access_denied, state and iss; null when the app has removed that URI since. */
  deny(session: string, pendingId: string): Promise<string | null>;
  /**
   * Gives the person more time to decide and returns the new end, until which the `request_uri` works too. Throws as documented for
   * the rpc ExtendAuthorization.
   */
  extend(session: string, pendingId: string): Promise<Date>;
}

export interface DecisionsDependencies {
  readonly apps: AppStore;
  readonly authorizations: AuthorizationStore;
  readonly approvals: ConsentApprovals;
  readonly issueCode: IssueCode;
  readonly issuer: string;
}

export function createDecisions(dependencies: DecisionsDependencies): Decisions {
  const { apps, authorizations, approvals, issuer, issueCode } = dependencies;

  async function getApp({ clientId }: AuthorizationRequest): Promise<App> {
    const app = await apps.findApp(clientId);
    if (app === null) throw notFound();
    return app;
  }

  /** Later changes of settings are checked at the exchange. */
  function findRefusal(request: AuthorizationRequest, app: App, decision: Decision): AppError | null {
    const fault = findSettingsFault({ ...request, scopes: findChosen(request, decision) }, app);
    return fault === null ? null : settingsChanged(fault);
  }

  return {
    async approve(session, decision) {
      const request = await getRequest(authorizations, decision.pendingId);
      // Thrown before consent creates a grant. It claims nothing, and another person's request stays not found.
      const app = await getApp(request);
      const refusal = findRefusal(request, app, decision);
      if (refusal !== null && (await approvals.isUndecided(session, decision.pendingId))) throw refusal;
      // With a refusal, consent can create no grant for this request and throws the error of its state, unless this repeats an
      // approval.
      const approval = await approvals.approve(session, decision);
      if (refusal !== null) throw refusal;
      const redirectUri = await issueCode(request, app, approval);
      const { grantId, scopes, grantExpiresAt } = approval;
      return { grantId, scopes, grantExpiresAt, redirectUri };
    },

    async deny(session, pendingId) {
      const request = await getRequest(authorizations, pendingId);
      await approvals.deny(session, pendingId);
      if (!isRegistered(await getApp(request), request.redirectUri)) return null;
      return addQuery(request.redirectUri, { error: 'access_denied', state: request.state, iss: issuer });
    },

    async extend(session, pendingId) {
      await getRequest(authorizations, pendingId);
      const expiresAt = await approvals.extend(session, pendingId);
      await authorizations.extendRequest(pendingId, expiresAt);
      return expiresAt;
    },
  };
}

/** Throws `not_found` for an unknown one. */
async function getRequest(
  authorizations: Pick<AuthorizationStore, 'findRequest'>,
  pendingId: string,
): Promise<AuthorizationRequest> {
  const request = isId('apr', pendingId) ? await authorizations.findRequest(pendingId) : null;
  if (request === null) throw notFound();
  return request;
}

/** The requested scopes that the person approves. A scope that the app has lost does not matter if it is not approved. */
function findChosen(
  { scopes }: AuthorizationRequest,
  { allRequested, scopes: chosen }: Decision,
): readonly Scope[] {
  return allRequested ? scopes : scopes.filter((scope) => chosen.includes(scope));
}

/** The message for the person; the affected setting is logged only. */
function settingsChanged(cause: string): AppError {
  const message = 'The app has changed its settings since it asked. Start again in the app.';
  return new AppError('conflict', message, { cause });
}

/**
 * Returns the app's redirect URI with the code of an approval, state and iss. The code is derived from the pending id, so a repeat
 * returns the same one while it is unused; afterwards it throws `already_decided`.
 */
export type IssueCode = (request: AuthorizationRequest, app: App, approval: Approval) => Promise<string>;

export function createIssueCode(dependencies: {
  readonly authorizations: Pick<AuthorizationStore, 'putCode'>;
  readonly clock: Clock;
  readonly issuer: string;
  readonly derivationKey: KeyObject;
  readonly codeSeconds: number;
}): IssueCode {
  const { authorizations, clock, issuer, derivationKey, codeSeconds } = dependencies;
  return async (request, app, approval) => {
    if (approval.clientId !== request.clientId) {
      throw new AppError('internal', '', { cause: 'consent names another app' });
    }
    const code = deriveSecret('authorization_code', derivationKey, 'code', request.pendingId);
    const stored = await authorizations.putCode(
      toCode(request, approval, code, codeSecondsOf(app, codeSeconds)),
    );
    if (!isUsable(stored, clock.now())) {
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
    askedWords: request.askedWords,
    redirectUri: request.redirectUri,
    codeChallenge: request.codeChallenge,
    dpopJkt: request.dpopJkt,
    appEpoch: approval.appEpoch,
    issuedAt: approval.decidedAt,
    expiresAt: addSeconds(approval.decidedAt, codeSeconds),
    consumedAt: null,
    familyId: null,
    failedAttempts: 0,
    suspended: false,
  };
}
