import type { CountsPlace, PartitionStore } from './access-ports.ts';

/** Months that are prepared beside the present one. */
const MONTHS_AHEAD = 3;

/** Adds and drops the monthly partitions of access records. Several instances at once are harmless. */
export interface Retention {
  /** Prepares months ahead and drops those that policy no longer keeps, until the signal. Answers the names of the dropped. */
  movePartitions(signal: AbortSignal): Promise<string[]>;
  /** Deletes what was counted of dropped months, whoever dropped them, until the signal. */
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
