import { useEffect, useState, useSyncExternalStore } from 'react';
import { Problem } from './problem.ts';

/** What the service demands before it goes on: a sign-in, because the session has ended, or a recent one (step-up). */
export type Demand = 'sign-in' | 'confirmation';

interface SignInState {
  /**
   * The person whose page this is; null if nobody was signed in when it was opened, undefined until that is known. A page never
   * changes from one person to another: it reloads.
   */
  readonly person: string | null | undefined;
  /** Null if the service demands nothing. */
  readonly demand: Demand | null;
  /** Whether the dialog about the demand is open. */
  readonly isAsking: boolean;
}

/** What the tabs of this browser tell each other. */
type News =
  | { readonly kind: 'session'; readonly userId: string }
  | { readonly kind: 'new-session'; readonly userId: string }
  | { readonly kind: 'signed-out' };

/** A page does not know its person yet. */
const START: SignInState = { person: undefined, demand: null, isAsking: false };

let state = START;
const listeners = new Set<() => void>();
const tabs = new BroadcastChannel('sign-in');
tabs.onmessage = ({ data }: MessageEvent<News>) => hear(data);

function update(change: Partial<SignInState>): void {
  state = { ...state, ...change };
  for (const listener of listeners) listener();
}

/** The page's person, and what the service demands of them. */
export function useSignIn(): SignInState {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => state,
  );
}

/** Whether the service has refused a request of this page until the person signs in. */
export function isSignInDemanded(): boolean {
  return state.demand !== null;
}

/** What an error of a session endpoint demands; null for all other errors. */
export function demandOf(error: unknown): Demand | null {
  if (!(error instanceof Problem)) return null;
  if (error.status === 401) return 'sign-in';
  return error.code === 'STEP_UP_REQUIRED' ? 'confirmation' : null;
}

/** Opens or closes the dialog. */
export function setAsking(isAsking: boolean): void {
  update({ isAsking });
}

// `/partner/session` is not one of them: its refusal is the answer to the question whether somebody is signed in.
const SESSION_ENDPOINTS = /^\/(partner\/consent|developer)\//;

/** Notes an error response to a request of this page. */
export function noteRefusal(method: string, path: string, problem: Problem): void {
  const demand = SESSION_ENDPOINTS.test(path) ? demandOf(problem) : null;
  if (demand === null) return;
  const isChange = method !== 'GET';
  if (typeof state.person === 'string' || isChange) raise(demand, isChange);
  else if (demand === 'sign-in') update({ person: null });
}

/** Opens the dialog. If the person has closed it, it opens again only for a change, not for what the page reads in the background. */
function raise(demand: Demand, isChange: boolean): void {
  const isAsking = state.isAsking || isChange || state.demand !== demand;
  update({ demand, isAsking });
}

/** Notes who is signed in. */
export function noteSession(userId: string): void {
  tabs.postMessage({ kind: 'session', userId } satisfies News);
  meet(userId);
}

/** Notes that nobody is signed in. Throws Problem if the page has a person: their session has ended. */
export function noteNoSession(): void {
  if (typeof state.person !== 'string') {
    update({ person: null });
    return;
  }
  raise('sign-in', false);
  throw new Problem('UNAUTHORIZED', 401, 'The session has ended.');
}

/** Tells the other tabs that this person has just signed in. */
export function announceSignIn(userId: string): void {
  tabs.postMessage({ kind: 'new-session', userId } satisfies News);
}

/** Notes that the person signed out on this page, and tells the other tabs. */
export function noteSignOut(): void {
  tabs.postMessage({ kind: 'signed-out' } satisfies News);
  update({ person: null, demand: null, isAsking: false });
}

function hear(news: News): void {
  // The page has no answer about the session yet, and the one to come is as new as this.
  if (state.person === undefined) return;
  if (news.kind === 'signed-out') {
    if (state.person !== null) location.reload();
  } else if (state.person === null) {
    location.reload();
  } else {
    meet(news.userId);
    if (news.kind === 'new-session') meetDemand();
  }
}

/** Continues with this person, whose session is valid. The page of somebody else is reloaded, because it shows their data. */
function meet(userId: string): void {
  if (typeof state.person === 'string' && state.person !== userId) {
    location.reload();
    return;
  }
  update({ person: userId });
  if (state.demand === 'sign-in') meetDemand();
}

function meetDemand(): void {
  update({ demand: null, isAsking: false });
}

/** URL of the sign-in page, which returns to this path (default: the current page). */
export function signInUrl(path = location.pathname + location.search): string {
  return `/sign-in?return_to=${encodeURIComponent(path)}`;
}

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

/** Starts a page. Removes the result of a silent sign-in from its URL. */
export function startSignIn(): void {
  state = START;
  if (location.hash === REFUSED) history.replaceState(null, '', location.pathname + location.search);
}
