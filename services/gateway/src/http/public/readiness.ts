import { ConfigError } from '@phds/service-kit/settings/config';
import type { Gateway } from '../gateway.ts';
import { text } from '../openapi/fields.ts';
import type { Answer, MountedOperation } from '../operation.ts';
import { send } from '../respond.ts';

const PROBE_DEADLINE_MS = 1_000;
const REMEMBERED_MS = 1_000;
const NO_TOKEN = new Uint8Array(32);

export type Readiness = ReturnType<typeof createReadiness>;

export function createReadiness({
  backends,
  clock,
  isLeaving,
}: Pick<Gateway, 'backends' | 'clock'> & { readonly isLeaving: () => boolean }) {
  let askedAt = Number.NEGATIVE_INFINITY;
  let answer = Promise.resolve(false);
  let hasAnswered = false;
  /** Whether the gateway stays and authorization answers now. Calls within one second share one check. */
  const ask = async () => {
    if (isLeaving()) return false;
    const now = clock.now().getTime();
    if (now - askedAt >= REMEMBERED_MS) {
      askedAt = now;
      answer = backends.tokens.introspect({ tokenHash: NO_TOKEN }, { timeoutMs: PROBE_DEADLINE_MS }).then(
        () => true,
        (cause) => {
          const problem = { setting: 'AUTHORIZATION_ADDRESS', reason: 'authorization does not answer' };
          throw new ConfigError([problem], { mayHeal: true, cause });
        },
      );
    }
    return answer;
  };
  /**
   * Whether balancers may send requests here. Once authorization has answered, it may fail: revocations and cached tokens do not need it,
   * and no other gateway would do better. Rejects with the reason when authorization has not answered yet.
   */
  const check = async () => {
    hasAnswered ||= await ask();
    return hasAnswered && !isLeaving();
  };
  const no = () => false;
  return { check, isReady: () => check().catch(no), canWork: () => ask().catch(no) };
}

const PLAIN = { 'Content-Type': 'text/plain; charset=utf-8' } as const;

/** Probes on the public port. */
export const PROBES: readonly MountedOperation[] = [
  {
    ...probe('/livez', 'getLiveness', 'Tell whether the process runs'),
    answers: { 200: probeAnswer('It does.') },
    handle: ({ response }) => send(response, 200, PLAIN, 'ok\n'),
  },
  {
    ...probe('/readyz', 'getReadiness', 'Tell whether the process can serve'),
    answers: { 200: probeAnswer('It can.'), 503: probeAnswer('It cannot.') },
    handle: async ({ gateway, response }) => {
      const ready = await gateway.isReady();
      send(response, ready ? 200 : 503, PLAIN, ready ? 'ok\n' : 'not ready\n');
    },
  },
];

function probe(path: string, operationId: string, summary: string) {
  return {
    method: 'GET',
    also: ['HEAD'],
    path,
    operationId,
    tag: 'Probes',
    summary,
    security: 'none',
    errorFormat: 'problem',
    errors: ['INVALID_REQUEST'],
  } as const;
}

function probeAnswer(description: string): Answer {
  return { description, body: text, type: 'text/plain', headers: ['Cache-Control'] };
}
