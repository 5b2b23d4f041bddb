import type { AccessRecordStore, CheckpointStore, WrittenBatch } from './access-ports.ts';

/** Batches of one chain that follow one another. */
interface Run {
  readonly first: WrittenBatch;
  readonly last: WrittenBatch;
}

/**
 * Looks whether the batches that this process has written are still in the database of the records. If one is missing, the database was
 * restored, and records of responses that were released are lost. Nothing has to be suspended for that, because the ledger is another
 * database; but a chain must not go on behind the gap.
 */
export interface RecordWatch {
  /** The same store, whose inserts are noted. */
  noting(store: AccessRecordStore): AccessRecordStore;
  /**
   * Compares what was written since the last look, and the batch before. Rejects from the first missing batch on, so that the alert stays
   * until an operator restarts the process.
   */
  look(): Promise<void>;
}

/** `beginChain` is called when a batch is missing. */
export function createRecordWatch(
  checkpoints: Pick<CheckpointStore, 'holds'>,
  beginChain: () => void,
): RecordWatch {
  let runs: Run[] = [];
  let lost: Run | null = null;
  const note = ({ writer, seq, at }: WrittenBatch) => {
    const last = { writer, seq, at };
    const run = runs.at(-1);
    if (run?.last.writer === writer) runs[runs.length - 1] = { ...run, last };
    else runs.push({ first: last, last });
  };
  const compare = async () => {
    const compared = [...runs];
    for (const run of compared) {
      if (await checkpoints.holds(run.first, run.last)) continue;
      lost = run;
      beginChain();
      return;
    }
    const present = compared.at(-1);
    if (present === undefined) return;
    // The chain may have grown meanwhile.
    const [grown = present, ...further] = runs.slice(compared.length - 1);
    runs = [{ first: present.last, last: grown.last }, ...further];
  };
  return {
    noting: (store) => ({
      ...store,
      async insert(batch) {
        await store.insert(batch);
        if (lost === null) note(batch);
      },
    }),
    async look() {
      if (lost === null) await compare();
      if (lost === null) return;
      const from = new Date(lost.first.at).toISOString();
      throw new Error(`the database of the access records lacks some that were written after ${from}`);
    },
  };
}
