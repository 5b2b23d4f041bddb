import type { RestoreGuard } from '@phds/service-kit/restore/guard';
import type { RevocationKind } from './metrics.ts';

/**
 * Runs a change of the ledger. It is measured under its kind, if it has one, and returns when the database holds the proof of the change, so
 * that a restored database cannot lack it unnoticed (docs/design/guarantees.md#restored-databases).
 */
export type Change = <T>(kind: RevocationKind | null, run: () => Promise<T>) => Promise<T>;

export function createChange(
  guard: Pick<RestoreGuard, 'acknowledge'>,
  onRevocation: (kind: RevocationKind, startedAt: number) => void,
): Change {
  return async (kind, run) => {
    const startedAt = performance.now();
    const result = await run();
    if (kind !== null) onRevocation(kind, startedAt);
    await guard.acknowledge();
    return result;
  };
}
