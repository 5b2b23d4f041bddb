import { type CheckpointAnchor, toAnchor } from '@phds/record-chain/anchor';
import type { AnchorStore } from './access-ports.ts';

/** Makes every checkpoint known outside the database, which cannot prove its own end. */
export interface CheckpointAnchors {
  /** Names a signed checkpoint in the log, and remembers it for the stores. */
  add(jws: string): void;
  /**
   * Writes the newest checkpoint to every store that lacks it: it fixes those before it. Rejects if a store fails; the next call tries
   * again.
   */
  write(): Promise<void>;
}

export function createCheckpointAnchors(dependencies: {
  readonly stores: readonly AnchorStore[];
  readonly onSigned: (anchor: CheckpointAnchor) => void;
}): CheckpointAnchors {
  const { stores, onSigned } = dependencies;
  const lacking = new Map<AnchorStore, CheckpointAnchor>();

  async function writeTo(store: AnchorStore, anchor: CheckpointAnchor): Promise<void> {
    await store.write(anchor);
    if (lacking.get(store) === anchor) lacking.delete(store);
  }

  return {
    add(jws) {
      const anchor = toAnchor(jws);
      onSigned(anchor);
      for (const store of stores) lacking.set(store, anchor);
    },
    async write() {
      const written = await Promise.allSettled([...lacking].map(([store, anchor]) => writeTo(store, anchor)));
      const failed = written.find((one) => one.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
    },
  };
}
