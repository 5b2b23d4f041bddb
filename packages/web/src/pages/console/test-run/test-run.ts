const KEPT = 'test-run';

/** What a test run has to remember while the browser is on the approval screen. No secret is among it. */
export interface StartedRun {
  readonly clientId: string;
  readonly state: string;
  readonly verifier: string;
}

/** What the browser came back with. */
export interface ReturnedRun {
  readonly run: StartedRun | null;
  readonly code: string | null;
  readonly error: string | null;
}

/** Where the approval screen sends the browser back to. */
export function testRunUri(): string {
  return `${location.origin}/console/test-run`;
}

/** Makes the state and the PKCE pair of a run (RFC 7636, S256), and keeps what is needed afterwards in this tab. */
export async function startRun(clientId: string): Promise<StartedRun & { readonly challenge: string }> {
  const run = { clientId, state: randomText(), verifier: randomText() };
  sessionStorage.setItem(KEPT, JSON.stringify(run));
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(run.verifier));
  return { ...run, challenge: toBase64Url(new Uint8Array(digest)) };
}

/** The answer in the address, checked against the state that was sent; null when the page was just opened. */
export function readReturn(): ReturnedRun | null {
  const query = new URLSearchParams(location.search);
  const [code, error] = [query.get('code'), query.get('error')];
  if (code === null && error === null) return null;
  const kept = sessionStorage.getItem(KEPT);
  const run = kept === null ? null : (JSON.parse(kept) as StartedRun);
  return { run: run?.state === query.get('state') ? run : null, code, error };
}

/** Takes the code out of the address bar and the history. */
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
