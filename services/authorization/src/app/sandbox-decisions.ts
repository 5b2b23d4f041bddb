import { isSandboxApp, SANDBOX_PERSON_DEFAULT } from '@phds/catalog/sandbox';
import { AppError, notFound } from '@phds/service-kit/errors';
import { findSettingsFault, SANDBOX_DENIAL } from '../domain/authorization-request.ts';
import { addQuery, isRegistered, toRedirectHost } from '../domain/redirect-uri.ts';
import type { AppStore } from './app-ports.ts';
import { getRequest, settingsChanged } from './decisions.ts';
import type { IssueCode } from './issue-code.ts';
import type { AuthorizationStore } from './ports.ts';
import type { SandboxApprovals } from './sandbox-ports.ts';

/** A decision in place of a sandbox person. */
export interface SandboxDecision {
  /** With code or error, state and iss; empty if the app has removed the URI since a denial. */
  readonly redirectUri: string;
  readonly redirectHost: string;
  /** Empty if denied. */
  readonly userId: string;
}

export interface SandboxDecisions {
  /** Decides as the request's `login_hint` says. Throws as documented for the rpc CompleteSandboxAuthorization. */
  complete(clientId: string, pendingId: string): Promise<SandboxDecision>;
}

export function createSandboxDecisions(dependencies: {
  readonly apps: Pick<AppStore, 'findApp'>;
  readonly authorizations: Pick<AuthorizationStore, 'findRequest'>;
  readonly sandboxApprovals: SandboxApprovals;
  readonly issueCode: IssueCode;
  readonly issuer: string;
}): SandboxDecisions {
  const { apps, authorizations, sandboxApprovals, issueCode, issuer } = dependencies;
  return {
    async complete(clientId, pendingId) {
      const request = await getRequest(authorizations, pendingId);
      if (request.clientId !== clientId || !isSandboxApp(clientId)) throw notFound();
      const app = await apps.findApp(clientId);
      if (app === null) throw notFound();
      const redirectHost = toRedirectHost(request.redirectUri);
      if (request.sandboxPerson === SANDBOX_DENIAL) {
        await sandboxApprovals.deny(clientId, pendingId);
        const denied = { error: 'access_denied', state: request.state, iss: issuer };
        const isKnown = isRegistered(app.redirectUris, request.redirectUri);
        return {
          redirectUri: isKnown ? addQuery(request.redirectUri, denied) : '',
          redirectHost,
          userId: '',
        };
      }
      // The request may be repeated after its approval, when only consent can tell that it was decided; the code then is the same.
      const fault = findSettingsFault(request, app);
      if (fault !== null) throw settingsChanged(fault);
      if (app.status !== 'active') throw new AppError('app_not_active', 'The app is not active.');
      const person = request.sandboxPerson ?? SANDBOX_PERSON_DEFAULT;
      const approval = await sandboxApprovals.approve(clientId, pendingId, person);
      const redirectUri = await issueCode(request, approval);
      return { redirectUri, redirectHost, userId: approval.userId };
    },
  };
}
