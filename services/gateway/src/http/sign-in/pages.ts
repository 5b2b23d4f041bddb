import type { ServerResponse } from 'node:http';
import type { AppError } from '@phds/service-kit/errors';
import { unavailable } from '@phds/service-kit/errors';
import type { SignInAttempt } from '../../domain/sign-in-attempt.ts';
import { errorHeaders } from '../http-error.ts';
import { type Html, html } from '../pages/html.ts';
import { sendPage } from '../pages/page.ts';

// docs/signing-in.md lists these pages.

export function sendNotSetUp(response: ServerResponse): void {
  sendPage(
    response,
    'Signing in is not set up',
    html`<p>This server does not know where people sign in. Its operators set that up. Its programming interfaces work.</p>`,
    503,
  );
}

export function sendUnknownAttempt(response: ServerResponse): void {
  sendPage(
    response,
    'This sign-in has ended',
    html`<p>It took longer than ten minutes, was finished before, or was begun in another browser. Nothing has changed.</p>
${toLink('/', 'Sign in')}`,
    400,
  );
}

export function sendRefused(response: ServerResponse, attempt: SignInAttempt, reason: string): void {
  sendPage(
    response,
    'You are not signed in',
    html`<p>The site that signs you in ended it without signing you in. Its reason: <code>${reason}</code>.</p>
${toRetry(attempt)}`,
    403,
  );
}

export function sendNotConfirmed(response: ServerResponse, attempt: SignInAttempt): void {
  sendPage(
    response,
    'This was not enough',
    html`<p>The next step needs a stronger proof of who you are than the site that signs you in asked for. You are signed in as before.</p>
${toRetry(attempt)}`,
    403,
  );
}

export function sendUnavailable(response: ServerResponse, attempt: SignInAttempt): void {
  sendPage(
    response,
    'Signing in is not possible right now',
    html`<p>The site that signs you in does not answer. Please try again in a minute. If you are signed in already, you can go on.</p>
${toRetry(attempt)}`,
    503,
    errorHeaders(unavailable()),
  );
}

/** `requestId` leads the operators to the reason in the log. */
export function sendInvalid(response: ServerResponse, attempt: SignInAttempt, requestId: string): void {
  sendPage(
    response,
    'Signing in did not work',
    html`<p>We could not accept the answer of the site that signs you in. Nothing has changed.</p>
${toRetry(attempt)}
<p class="quiet">If it happens again, please tell the operators of this service this number: <code>${requestId}</code></p>`,
    502,
  );
}

export function sendTooLong(response: ServerResponse): void {
  sendPage(
    response,
    'Signing in did not work',
    html`<p>The site that signs you in sends more about you than a browser can keep. Trying again does not help: the operators of this
service must make its ID tokens shorter.</p>`,
    502,
  );
}

export function sendTooMany(response: ServerResponse, error: AppError): void {
  sendPage(
    response,
    'Please try again',
    html`<p>Too many people sign in from your network right now. Please try again in a minute.</p>`,
    429,
    errorHeaders(error),
  );
}

function toRetry({ returnTo, stepUp }: SignInAttempt): Html {
  return toLink(returnTo, 'Try again', stepUp);
}

function toLink(returnTo: string, text: string, stepUp = false): Html {
  const parameters = new URLSearchParams({ return_to: returnTo, ...(stepUp ? { step_up: '1' } : {}) });
  return html`<p><a href="/sign-in?${parameters.toString()}">${text}</a></p>`;
}
