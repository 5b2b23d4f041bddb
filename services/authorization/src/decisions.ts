import type { KeyObject } from 'node:crypto';
import { isScope, type Scope } from '@phds/catalog/scopes';
import type { CompleteAuthorizationRequest } from '@phds/contracts/phds/authorization/v1/authorization_pb';
import { type ApproveResponse, PendingStatus } from '@phds/contracts/phds/consent/v1/consent_pb';
import type { Clock } from '@phds/service-kit/clock';
import { AppError, notFound } from '@phds/service-kit/errors';
import { isId } from '@phds/service-kit/ids';
import { deriveSecret, sha256 } from '@phds/service-kit/secrets';
import { type App, type AppStore, codeSecondsOf } from './app.ts';
import {
  type AuthorizationCode,
  type AuthorizationRequest,
  type AuthorizationStore,
  findSettingsFault,
  isUsable,
} from './authorization-request.ts';
import { type Consent, toDate, withSession } from './clients/consent.ts';
import { addQuery, isRegistered } from './redirect-uri.ts';
import { addSeconds } from './token.ts';

export type Decisions = ReturnType<typeof createDecisions>;

/** Decisions about pending approvals. Consent judges the session, a JWT, and the decision. */
export function createDecisions(dependencies: {
  readonly apps: AppStore;
  readonly authorizations: AuthorizationStore;
  readonly consent: Consent['consent'];
  readonly clock: Clock;
  readonly issuer: string;
  readonly derivationKey: KeyObject;
  readonly codeSeconds: number;
}) {
  const { apps, authorizations, consent, issuer } = dependencies;

  async function getApp({ clientId }: AuthorizationRequest): Promise<App> {
    const app = await apps.findApp(clientId);
    if (app === null) throw notFound();
    return app;
  }

  /** Later changes of settings are checked at the exchange. */
  function findRefusal(
    request: AuthorizationRequest,
    app: App,
    decision: CompleteAuthorizationRequest,
  ): AppError | null {
    const fault = findSettingsFault({ ...request, scopes: findChosen(request, decision) }, app);
    return fault === null ? null : settingsChanged(fault);
  }

  return {
    /**
     * Consent creates the grant first, then the code is stored. The code is derived from the pending id, so repeating the same
     * decision completes it or returns the same code while it is unused; afterwards it throws `already_decided`. Throws `conflict`
     * when the app's current settings no longer allow an undecided or approved request, or consent finds that the person shares
     * something else with the app than the screen showed.
     */
    async approve(session: string, decision: CompleteAuthorizationRequest) {
      const { $typeName: _type, pendingId: id, ...decided } = decision;
      const request = await getRequest(authorizations, id);
      // Thrown before consent creates a grant. It claims nothing, and another person's request stays not found.
      const app = await getApp(request);
      const refusal = findRefusal(request, app, decision);
      if (refusal !== null && (await isUndecided(consent, session, id))) throw refusal;
      // With a refusal, consent can create no grant for this request and throws the error of its state, unless this repeats an
      // approval.
      const approval = await consent.approve({ ...decided, id }, withSession(session));
      if (refusal !== null) throw refusal;
      const { grantId, scopes, grantExpiresAt } = approval;
      const redirectUri = await issueCode(dependencies, { request, app, approval });
      return { grantId, scopes, redirectUri, ...(grantExpiresAt && { grantExpiresAt }) };
    },

    /** Returns the app's redirect URI with error=access_denied, state and iss; empty when the app has removed that URI since. */
    async deny(session: string, pendingId: string): Promise<string> {
      const request = await getRequest(authorizations, pendingId);
      await consent.deny({ id: pendingId }, withSession(session));
      if (!isRegistered(await getApp(request), request.redirectUri)) return '';
      return addQuery(request.redirectUri, { error: 'access_denied', state: request.state, iss: issuer });
    },

    /**
     * Gives the person more time to decide and returns the new end, until which the `request_uri` works too. Throws as documented for
     * the rpc ExtendAuthorization.
     */
    async extend(session: string, id: string) {
      await getRequest(authorizations, id);
      const { expiresAt } = await consent.extendPendingApproval({ id }, withSession(session));
      await authorizations.extendRequest(id, toDate(expiresAt));
      return { ...(expiresAt && { expiresAt }) };
    },
  };
}

/** Whether the pending approval is still undecided. Does not claim it. Throws `not_found`, also when another person has claimed it. */
async function isUndecided(consent: Consent['consent'], session: string, id: string): Promise<boolean> {
  const request = { id, withoutClaiming: true };
  const { pendingApproval } = await consent.getPendingApproval(request, withSession(session));
  return pendingApproval?.status === PendingStatus.PENDING;
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
  { allRequested, scopes: chosen }: CompleteAuthorizationRequest,
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
async function issueCode(
  { authorizations, clock, issuer, derivationKey, codeSeconds }: Parameters<typeof createDecisions>[0],
  {
    request,
    app,
    approval,
  }: { readonly request: AuthorizationRequest; readonly app: App; readonly approval: ApproveResponse },
): Promise<string> {
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
}

function toCode(
  request: AuthorizationRequest,
  approval: ApproveResponse,
  code: string,
  codeSeconds: number,
): AuthorizationCode {
  const issuedAt = toDate(approval.decidedAt);
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
    issuedAt,
    expiresAt: addSeconds(issuedAt, codeSeconds),
    consumedAt: null,
    familyId: null,
    failedAttempts: 0,
    suspended: false,
  };
}
