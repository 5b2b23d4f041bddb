import { type PendingApproval, PendingStatus } from '@phds/contracts/phds/consent/v1/consent_pb';
import { toAppError } from '@phds/service-kit/errors';
import { SESSION_METADATA } from '@phds/service-kit/metadata-keys';
import type { Exchange } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import { approvalUri } from '../oauth/authorize.ts';
import { pathParameter } from '../routing.ts';
import type { SignedIn } from '../session.ts';
import { renderApprovalForm } from './approval-form.ts';
import { sendErrorPage } from './error-page.ts';
import { type Html, html } from './html.ts';
import { sendPage } from './page.ts';

const TITLE = 'Share your health data?';

/** `GET /approve/:id`: the approval screen. The first session that opens it claims the pending approval (contract section 3). */
export async function showApprovalPage(gateway: Gateway, exchange: Exchange): Promise<void> {
  const { request, response } = exchange;
  const id = pathParameter(exchange, 'id');
  try {
    const session = await findSession(gateway, exchange);
    if (session === null) return sendPage(response, TITLE, renderSignIn(gateway, id));
    const options = { headers: { [SESSION_METADATA]: session.jwt } };
    const { pendingApproval } = await gateway.backends.consent.getPendingApproval({ id }, options);
    if (pendingApproval === undefined) return sendPage(response, TITLE, NOT_THERE, { status: 404 });
    const problem = new URL(request.originalUrl, 'http://x').searchParams.get('problem') ?? '';
    showState(exchange, pendingApproval, session.userId, PROBLEMS[problem] ?? '');
  } catch (caught) {
    const error = toAppError(caught);
    if (error.reason === 'not_found') return sendPage(response, TITLE, NOT_THERE, { status: 404 });
    if (error.reason === 'unauthorized') return sendPage(response, TITLE, renderSignIn(gateway, id));
    await sendErrorPage(gateway, exchange, error);
  }
}

async function findSession(gateway: Gateway, { request }: Exchange): Promise<SignedIn | null> {
  try {
    return await gateway.readSession(request);
  } catch (caught) {
    const error = toAppError(caught);
    if (error.reason === 'unauthorized') return null;
    throw error;
  }
}

function showState({ response }: Exchange, pending: PendingApproval, userId: string, problem: string): void {
  const ended = ENDED[pending.status];
  if (ended !== undefined) sendPage(response, TITLE, ended);
  else
    sendPage(response, TITLE, renderApprovalForm(pending, userId, problem), {
      formHost: pending.redirectHost,
    });
}

function renderSignIn(gateway: Gateway, id: string): Html {
  const login = new URL(gateway.config.LOGIN_URL);
  login.searchParams.set('return_to', approvalUri(gateway, encodeURIComponent(id)));
  return html`<p>An app asks to read some of your health data. Please sign in to see what it asks for and to decide.</p>
<p><a href="${login.href}">Sign in</a></p>`;
}

const NOT_THERE = html`<p>There is no such request, or somebody else is deciding about it. Nothing was shared.</p>`;

const ENDED: Partial<Record<PendingStatus, Html>> = {
  [PendingStatus.APPROVED]: html`<p>You have approved this request already. You can go back to the app.</p>`,
  [PendingStatus.DENIED]: html`<p>You have refused this request. Nothing was shared.</p>`,
  [PendingStatus.EXPIRED]: html`<p>The time to decide is over. Nothing was shared; please start again in the app.</p>`,
  [PendingStatus.CANCELLED]: html`<p>The app is no longer active. Nothing was shared.</p>`,
};

/** What the page says after a decision that was refused, by the code in lower case. */
const PROBLEMS: Readonly<Record<string, string>> = {
  no_scopes_approved: 'Choose at least one thing to share, or do not share.',
  app_not_active: 'The app is not active at the moment. Nothing was shared.',
  pending_expired: 'The time to decide is over. Nothing was shared.',
  already_decided: 'This request was decided already.',
  invalid_request: 'The choices could not be read. Please try again.',
};
