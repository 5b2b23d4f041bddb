import { verifyChain } from '@phds/faults/judge/chain';
import type { RunningStack } from '@phds/running-system/running-stack';
import type { Cluster } from '../cluster.ts';
import { connectPeople } from './access.ts';
import { readAll, readSuspension } from './after.ts';
import type { ClusterFault } from './faults.ts';
import { type RevocationOutcome, revokeUnderReads } from './revocations.ts';

/** The result of one fault. `wrong` is empty if every promise was kept. */
export interface Verdict {
  readonly fault: string;
  readonly outcome: RevocationOutcome;
  /** Acknowledged revocations whose access reads data afterwards, counted once for each gateway. */
  readonly lost: number;
  readonly chain: string;
  readonly wrong: readonly string[];
}

const KEPT = 20;

/** Revokes in the middle of the fault, and checks that every acknowledged revocation is in effect and that nobody has to confirm. */
export async function proveNothingLost(
  fault: ClusterFault,
  parts: {
    readonly cluster: Cluster;
    readonly stack: RunningStack;
    readonly revocations: number;
    readonly say: (text: string) => void;
    readonly signal: AbortSignal;
  },
): Promise<Verdict> {
  const { cluster, stack, say } = parts;
  const revocations = Math.max(20, Math.round(parts.revocations * fault.share));
  const consents = await connectPeople(stack, fault.name, revocations + KEPT);
  say(`${revocations + KEPT} people are connected; revoking ${revocations} of them`);
  const outcome = await revokeUnderReads({
    consents,
    gateways: stack.gatewayUrls,
    kept: KEPT,
    midway: { share: 0.5, run: () => fault.play(cluster, say) },
    signal: parts.signal,
  });
  await fault.repair?.(cluster);
  await cluster.untilComplete();
  say('the cluster has a leader and two standbys; reading everything again');
  const revoked = await readAll(stack, consents, consents.accesses.slice(KEPT));
  const kept = await readAll(stack, consents, consents.accesses.slice(0, KEPT));
  const chain = await verifyChain(stack);
  const { consent, authorization } = await readSuspension(stack);
  const gateways = stack.gatewayUrls.length;
  const wrong = [
    outcome.acknowledged !== revocations && `${outcome.acknowledged} of ${revocations} were acknowledged`,
    outcome.staleReads > 0 && `${outcome.staleReads} reads after an acknowledged revocation returned data`,
    outcome.wronglyRefused > 0 &&
      `${outcome.wronglyRefused} reads of a consent that nobody revoked were refused`,
    revoked.get(401) !== revocations * gateways && `reads of revoked consents afterwards: ${toText(revoked)}`,
    kept.get(200) !== KEPT * gateways && `reads of kept consents afterwards: ${toText(kept)}`,
    !chain.ok && `chain: ${chain.text}`,
    (consent.latest ?? authorization.latest) !== null && 'an operator would have to confirm the database',
  ].filter((each) => each !== false);
  return { fault: fault.name, outcome, lost: revoked.get(200) ?? 0, chain: chain.text, wrong };
}

export function toText(counts: ReadonlyMap<unknown, number>): string {
  return [...counts].map(([status, times]) => `${times} × ${status}`).join(', ');
}

/** The lines to print. */
export function toLines({ fault, outcome, lost, chain, wrong }: Verdict): string[] {
  const seconds = (milliseconds: number) => (milliseconds / 1000).toFixed(1);
  const { acknowledged, before, repeated, refusedAfter, staleReads } = outcome;
  return [
    `${fault}: ${wrong.length === 0 ? 'kept' : 'BROKEN'}`,
    `  ${acknowledged} revocations acknowledged, ${before} of them before; ${repeated} requests repeated; ${lost} lost`,
    `  ${refusedAfter} reads after an acknowledgement answered without data, ${staleReads} with data`,
    `  reads: ${toText(new Map(Object.entries(outcome.reads)))}`,
    `  longest without an acknowledged revocation ${seconds(outcome.longestWithoutRevocation)} s, without a released read ${seconds(outcome.longestWithoutRead)} s`,
    `  ${chain}`,
    ...wrong.map((each) => `  WRONG: ${each}`),
  ];
}
