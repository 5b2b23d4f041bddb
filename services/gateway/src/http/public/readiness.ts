import type { Gateway } from '../gateway.ts';

const PROBE_DEADLINE_MS = 1_000;
const REMEMBERED_MS = 1_000;
const NO_TOKEN = new Uint8Array(32);

export interface Readiness {
  /**
   * Whether balancers may send requests here. Once authorization has answered, it may fail: revocations and cached tokens do not need it,
   * and no other gateway would do better.
   */
  readonly isReady: () => Promise<boolean>;
  /** Whether the gateway stays and authorization answers now. Calls within one second share one check. */
  readonly canWork: () => Promise<boolean>;
}

export function createReadiness({
  backends,
  clock,
  isLeaving,
}: Pick<Gateway, 'backends' | 'clock'> & { readonly isLeaving: () => boolean }): Readiness {
  let askedAt = Number.NEGATIVE_INFINITY;
  let answer = Promise.resolve(false);
  let hasAnswered = false;
  const canWork = async () => {
    if (isLeaving()) return false;
    const now = clock.now().getTime();
    if (now - askedAt >= REMEMBERED_MS) {
      askedAt = now;
      answer = backends.tokens.introspect({ tokenHash: NO_TOKEN }, { timeoutMs: PROBE_DEADLINE_MS }).then(
        () => true,
        () => false,
      );
    }
    return answer;
  };
  const isReady = async () => {
    hasAnswered ||= await canWork();
    return hasAnswered && !isLeaving();
  };
  return { isReady, canWork };
}
