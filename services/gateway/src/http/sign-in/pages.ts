import type { SignInAttempt } from '../../domain/sign-in-attempt.ts';
import { type Html, html, type Page } from '../pages/page.ts';

// docs/operations/signing-in.md lists these pages.

export const NOT_SET_UP: Page = {
  en: {
    title: 'Signing in is not set up',
    content: html`<p>The operator of this server has not set up where people sign in. Its programming interfaces work.</p>`,
  },
  de: {
    title: 'Die Anmeldung ist nicht eingerichtet',
    content: html`<p>Der Betreiber dieses Servers hat nicht eingerichtet, wo sich Personen anmelden. Die Programmierschnittstellen funktionieren.</p>`,
  },
};

export const UNKNOWN_ATTEMPT: Page = {
  en: {
    title: 'This sign-in has ended',
    content: html`<p>It took longer than ten minutes, was already finished or replaced by a newer one, or started in another browser. Nothing has changed.</p>
${toLink('/', 'Sign in')}`,
  },
  de: {
    title: 'Diese Anmeldung ist beendet',
    content: html`<p>Sie hat länger als zehn Minuten gedauert, war schon abgeschlossen, wurde durch eine neuere ersetzt oder in einem anderen Browser begonnen. Es wurde nichts
geändert.</p>
${toLink('/', 'Anmelden')}`,
  },
};

export function toRefused(attempt: SignInAttempt, reason: string): Page {
  const { en, de } = toRetry(attempt);
  return {
    en: {
      title: 'You are not signed in',
      content: html`<p>The sign-in service ended the sign-in. Its reason: <code>${reason}</code>.</p>
${en}`,
    },
    de: {
      title: 'Sie sind nicht angemeldet',
      content: html`<p>Der Anmeldedienst hat die Anmeldung abgebrochen. Sein Grund: <code>${reason}</code>.</p>
${de}`,
    },
  };
}

export function toUnavailable(attempt: SignInAttempt): Page {
  const { en, de } = toRetry(attempt);
  return {
    en: {
      title: 'Signing in is not possible right now',
      content: html`<p>The sign-in service does not answer. Please try again in a minute. If you are already signed in, you can continue.</p>
${en}`,
    },
    de: {
      title: 'Die Anmeldung ist im Moment nicht möglich',
      content: html`<p>Der Anmeldedienst antwortet nicht. Bitte versuchen Sie es in einer Minute erneut. Wenn Sie schon angemeldet sind, können Sie
weitermachen.</p>
${de}`,
    },
  };
}

/** The request id leads the operator to the reason in the log. */
export function toInvalid(attempt: SignInAttempt, requestId: string): Page {
  const { en, de } = toRetry(attempt);
  const id = html`<code>${requestId}</code>`;
  return {
    en: {
      title: 'Signing in did not work',
      content: html`<p>We could not accept the answer of the sign-in service. Nothing has changed.</p>
${en}
<p class="quiet">If this happens again, give the operator of this service this number: ${id}</p>`,
    },
    de: {
      title: 'Die Anmeldung hat nicht funktioniert',
      content: html`<p>Wir konnten die Antwort des Anmeldedienstes nicht annehmen. Es wurde nichts geändert.</p>
${de}
<p class="quiet">Wenn es wieder geschieht, nennen Sie dem Betreiber dieses Dienstes diese Nummer: ${id}</p>`,
    },
  };
}

export const TOO_LONG: Page = {
  en: {
    title: 'Signing in did not work',
    content: html`<p>The sign-in service sends more about you than a browser can store. Trying again does not help: the operator of this service must
make its ID tokens shorter.</p>`,
  },
  de: {
    title: 'Die Anmeldung hat nicht funktioniert',
    content: html`<p>Der Anmeldedienst sendet mehr über Sie, als ein Browser speichern kann. Ein neuer Versuch hilft nicht: Der Betreiber dieses
Dienstes muss seine ID-Tokens verkürzen.</p>`,
  },
};

export const TOO_MANY: Page = {
  en: {
    title: 'Please try again',
    content: html`<p>Too many people are signing in from your network right now. Please try again in a minute.</p>`,
  },
  de: {
    title: 'Bitte versuchen Sie es erneut',
    content: html`<p>Aus Ihrem Netz melden sich gerade zu viele Personen an. Bitte versuchen Sie es in einer Minute erneut.</p>`,
  },
};

function toRetry({ returnTo, switchAccount }: SignInAttempt) {
  const options: Record<string, string> = switchAccount ? { switch: '1' } : {};
  return {
    en: toLink(returnTo, 'Try again', options),
    de: toLink(returnTo, 'Erneut versuchen', options),
  };
}

function toLink(returnTo: string, text: string, options: Readonly<Record<string, string>> = {}): Html {
  const parameters = new URLSearchParams({ return_to: returnTo, ...options });
  return html`<p><a class="action" href="/sign-in?${parameters.toString()}">${text}</a></p>`;
}
