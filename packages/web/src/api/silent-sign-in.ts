import { useEffect, useState } from 'react';
import { signInUrl, useSignIn } from './sign-in.ts';

// Set while this browser has a session, as far as the pages know. Scripts cannot read the session cookie.
const MARK = 'signed-in';

/** The fragment with which the gateway reports that signing in was not possible without asking. */
const REFUSED = '#sign-in-required';

/** Notes whether a session that is gone on a later visit has ended by itself. */
export function rememberSession(hasSession: boolean): void {
  try {
    if (hasSession) localStorage.setItem(MARK, 'yes');
    else localStorage.removeItem(MARK);
  } catch {
    // Storage is blocked. The person signs in by the button.
  }
}

function hadSession(): boolean {
  try {
    return localStorage.getItem(MARK) !== null;
  } catch {
    return false;
  }
}

/**
 * For a page that was opened after the session had ended: signs in without asking, if the identity provider still knows the person.
 * True while the browser leaves for that. It is tried once; only a new session makes it possible again. People who never signed in or
 * who signed out are not redirected.
 */
export function useSilentSignIn(): boolean {
  const { person } = useSignIn();
  const [wasEnded] = useState(hadSession);
  const isLeaving = wasEnded && person === null;
  useEffect(() => {
    if (!isLeaving) return;
    rememberSession(false);
    location.replace(`${signInUrl()}&silent=1`);
  }, [isLeaving]);
  return isLeaving;
}

/** Removes the result of the silent sign-in from the URL. */
export function forgetSilentSignIn(): void {
  if (location.hash === REFUSED) history.replaceState(null, '', location.pathname + location.search);
}
