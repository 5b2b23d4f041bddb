import { randomFillSync } from 'node:crypto';
import type { Clock } from '@phds/service-kit/clock';

/** Ids within one millisecond count up in the 12 bits of `rand_a`. */
const IDS_PER_MILLISECOND = 0x1000;
const UUID_BYTES = 16;
/** How far stamps may run ahead of the clock. No load needs more, and clock corrections in steps are smaller. */
const MOST_AHEAD_MS = 5_000;

/** The time of a batch and the ids of its records. */
interface AccessRecordStamp {
  /** Unix milliseconds. */
  readonly at: number;
  /** 16 bytes each. */
  readonly ids: readonly Uint8Array[];
}

/**
 * Makes UUIDs of version 7 (RFC 9562 section 5.7, method 1 of 6.2) that increase until a restart. Those of one stamp share a
 * millisecond, so a batch never spans two partitions. If too few ids are left in a millisecond, or the clock went back, the next
 * millisecond is used ahead of time.
 */
export function createAccessRecordStamps(clock: Clock) {
  let millisecond = 0;
  let used = 0;
  return {
    /** Later than `after`, in Unix milliseconds. `count` is at most 4096. */
    next(count: number, after = 0): AccessRecordStamp {
      const now = Math.max(clock.now().getTime(), after > millisecond ? after + 1 : 0);
      if (now > millisecond) {
        millisecond = now;
        used = 0;
      } else if (used + count > IDS_PER_MILLISECOND) {
        millisecond += 1;
        used = 0;
      }
      const ids = makeIds(millisecond, used, count);
      used += count;
      return { at: millisecond, ids };
    },
    /** Whether the clock went back so far that records would be dated wrongly for a long time. */
    isAhead: () => millisecond > clock.now().getTime() + MOST_AHEAD_MS,
    /** Makes the next stamp use the clock's time, even if it is lower than the last one. */
    restart() {
      millisecond = 0;
    },
  };
}

function makeIds(millisecond: number, first: number, count: number): Uint8Array[] {
  const bytes = randomFillSync(Buffer.allocUnsafe(count * UUID_BYTES));
  return Array.from({ length: count }, (_, index) => {
    const id = bytes.subarray(index * UUID_BYTES, (index + 1) * UUID_BYTES);
    id.writeUIntBE(millisecond, 0, 6);
    id.writeUInt16BE(0x7000 | (first + index), 6);
    id.writeUInt8((id.readUInt8(8) & 0x3f) | 0x80, 8);
    return id;
  });
}
