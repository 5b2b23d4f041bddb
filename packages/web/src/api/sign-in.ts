import { useSyncExternalStore } from 'react';
import { Problem } from './problem.ts';

interface SignInState {
  /**
   * The person whose page this is; null if nobody was signed in when it was opened, undefined until that is known. A page never
   * changes from one person to another: it reloads.
   */
  readonly person: string | null | undefined;
  /** Whether the service demands a sign-in before it goes on, because the session has ended. */
  readonly isDemanded: boolean;
  /** Whether the dialog about it is open. */
  readonly isAsking: boolean;
}

/** What the tabs of this browser tell each other. */
type News = { readonly kind: 'session'; readonly userId: string } | { readonly kind: 'signed-out' };

/** A page does not know its person yet. */
const START: SignInState = { person: undefined, isDemanded: false, isAsking: false };

let state = START;
const listeners = new Set<() => void>();
const tabs = new BroadcastChannel('sign-in');
tabs.onmessage = ({ data }: MessageEvent<News>) => hear(data);

function update(change: Partial<SignInState>): void {
  state = { ...state, ...change };
  for (const listener of listeners) listener();
}

/** The page's person, and whether they have to sign in again. */
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
  return state.isDemanded;
}

/** Whether an error of a session endpoint demands a sign-in. */
export function isNoSession(error: unknown): boolean {
  return error instanceof Problem && error.status === 401;
}

/** Opens or closes the dialog. */
export function setAsking(isAsking: boolean): void {
  update({ isAsking });
}

// `/partner/session` is not one of them: its refusal is the answer to the question whether somebody is signed in.
const SESSION_ENDPOINTS = /^\/(partner\/consent|developer)\//;

/** Notes an error response to a request of this page. */
export function noteRefusal(method: string, path: string, problem: Problem): void {
  if (!SESSION_ENDPOINTS.test(path) || !isNoSession(problem)) return;
  const isChange = method !== 'GET';
  if (typeof state.person === 'string' || isChange) demandSignIn(isChange);
  else update({ person: null });
}

/** Opens the dialog. If the person has closed it, it opens again only for a change, not for what the page reads in the background. */
function demandSignIn(isChange: boolean): void {
  update({ isDemanded: true, isAsking: state.isAsking || isChange || !state.isDemanded });
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
  demandSignIn(false);
  throw new Problem('UNAUTHORIZED', 401, 'The session has ended.');
}

/** Notes that the person signed out on this page, and tells the other tabs. */
export function noteSignOut(): void {
  tabs.postMessage({ kind: 'signed-out' } satisfies News);
  update({ person: null, isDemanded: false, isAsking: false });
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
  }
}

/** Continues with this person, whose session is valid. The page of somebody else is reloaded, because it shows their data. */
function meet(userId: string): void {
  if (typeof state.person === 'string' && state.person !== userId) {
    location.reload();
    return;
  }
  update({ person: userId, isDemanded: false, isAsking: false });
}

/** URL of the sign-in page, which returns to this path (default: the current page). */
export function signInUrl(path = location.pathname + location.search): string {
  return `/sign-in?return_to=${encodeURIComponent(path)}`;
}

/** Starts a page. */
export function startSignIn(): void {
  state = START;
}
