const KEPT = 'test-run';

/** The state of a test run while the browser is on the approval screen. Contains no secret. */
export interface StartedRun {
  readonly clientId: string;
  readonly state: string;
  readonly verifier: string;
}

/** The result in the redirect. */
export interface ReturnedRun {
  readonly run: StartedRun | null;
  readonly code: string | null;
  readonly error: string | null;
}

/** The redirect URI of a test run. */
export function testRunUri(): string {
  return `${location.origin}/console/test-run`;
}

/** Generates the state and the PKCE pair of a run (RFC 7636, S256), and stores what is needed later in this tab. */
export async function startRun(clientId: string): Promise<StartedRun & { readonly challenge: string }> {
  const run = { clientId, state: randomText(), verifier: randomText() };
  sessionStorage.setItem(KEPT, JSON.stringify(run));
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(run.verifier));
  return { ...run, challenge: toBase64Url(new Uint8Array(digest)) };
}

/** The authorization response in the URL, checked against the sent state; null if the page was just opened. */
export function readReturn(): ReturnedRun | null {
  const query = new URLSearchParams(location.search);
  const [code, error] = [query.get('code'), query.get('error')];
  if (code === null && error === null) return null;
  const kept = sessionStorage.getItem(KEPT);
  const run = kept === null ? null : (JSON.parse(kept) as StartedRun);
  return { run: run?.state === query.get('state') ? run : null, code, error };
}

const toGrantKey = (clientId: string) => `test-run-grant-${clientId}`;

/** Remembers in this tab the connection that a run has made. */
export function keepGrant(clientId: string, grantId: string): void {
  sessionStorage.setItem(toGrantKey(clientId), grantId);
}

/** The connection of the latest run of an app in this tab; empty when there is none. */
export function findGrant(clientId: string): string {
  return sessionStorage.getItem(toGrantKey(clientId)) ?? '';
}

/** Removes the code from the URL and the history. */
export function forgetReturn(): void {
  if (location.search !== '') history.replaceState(null, '', location.pathname);
}

function randomText(): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(32)));
}

function toBase64Url(bytes: Uint8Array): string {
  const base64 = btoa(String.fromCharCode(...bytes));
  return base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
