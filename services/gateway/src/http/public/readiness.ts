import type { Gateway } from '../gateway.ts';

const PROBE_DEADLINE_MS = 1_000;
const REMEMBERED_MS = 1_000;
const NO_TOKEN = new Uint8Array(32);

/** Checks that the gateway stays and that authorization answers. Probes within one second share one check of authorization. */
export function createReadiness({
  backends,
  clock,
  isLeaving,
}: Pick<Gateway, 'backends' | 'clock'> & { readonly isLeaving: () => boolean }): () => Promise<boolean> {
  let askedAt = Number.NEGATIVE_INFINITY;
  let answer = Promise.resolve(false);
  return async () => {
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
}
