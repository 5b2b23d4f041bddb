import type { CountsPlace, PartitionStore } from './access-ports.ts';

/** Number of months prepared ahead of the current one. */
const MONTHS_AHEAD = 3;

/** Adds and drops the monthly partitions of access records. Safe for concurrent instances. */
export interface Retention {
  /** Prepares months ahead and drops those past the retention period, until aborted. Returns the names of the dropped ones. */
  movePartitions(signal: AbortSignal): Promise<string[]>;
  /** Deletes the counts of all dropped months, until aborted. */
  deleteCounts(signal: AbortSignal): Promise<void>;
}

export function createRetention(dependencies: {
  readonly partitions: PartitionStore;
  /** 0 keeps access records for ever. */
  readonly retentionDays: number;
}): Retention {
  const { partitions, retentionDays } = dependencies;
  return {
    async movePartitions(signal) {
      while (!signal.aborted && (await partitions.ensureNext(MONTHS_AHEAD)));
      const dropped: string[] = [];
      while (retentionDays !== 0 && !signal.aborted) {
        const month = await partitions.dropNext(retentionDays);
        if (month === null) break;
        dropped.push(month);
      }
      return dropped;
    },
    async deleteCounts(signal) {
      let place: CountsPlace | null = null;
      do place = await partitions.deleteCounts(place);
      while (place !== null && !signal.aborted);
    },
  };
}
