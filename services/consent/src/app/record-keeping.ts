import type { CountsPlace, RecordPartitions } from './record-ports.ts';

/** Months that are prepared beside the present one. */
const MONTHS_AHEAD = 3;

/** Moves the months that records are kept in. Several instances at once are harmless. */
export interface RecordKeeping {
  /** Prepares months ahead and drops those that policy no longer keeps, until the signal. Answers the names of the dropped. */
  movePartitions(signal: AbortSignal): Promise<string[]>;
  /** Deletes what was counted of dropped months, whoever dropped them, until the signal. */
  deleteCounts(signal: AbortSignal): Promise<void>;
}

export function createRecordKeeping(
  partitions: RecordPartitions,
  /** 0 keeps records for ever. */
  policy: { readonly retentionDays: number },
): RecordKeeping {
  return {
    async movePartitions(signal) {
      while (!signal.aborted && (await partitions.ensureNext(MONTHS_AHEAD)));
      const dropped: string[] = [];
      while (policy.retentionDays !== 0 && !signal.aborted) {
        const month = await partitions.dropNext(policy.retentionDays);
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
