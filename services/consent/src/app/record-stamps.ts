import { randomFillSync } from 'node:crypto';
import type { Clock } from '@phds/service-kit/clock';

/** Ids within one millisecond count up in the 12 bits of `rand_a`. */
const IDS_PER_MILLISECOND = 0x1000;
const UUID_BYTES = 16;

/** The time of a batch and the ids of its records. */
export interface RecordStamp {
  /** Unix milliseconds. */
  readonly at: number;
  /** 16 bytes each. */
  readonly ids: readonly Uint8Array[];
}

/**
 * Makes UUIDs of version 7 (RFC 9562 section 5.7, method 1 of 6.2): in one process each is greater than the one before. Those
 * of one stamp share their millisecond, so that a batch never spreads over two partitions; where a millisecond has too few
 * left, or the clock went back, the next one is borrowed. `count` is 4096 at most.
 */
export function createRecordStamps(clock: Clock): (count: number) => RecordStamp {
  let millisecond = 0;
  let used = 0;
  return (count) => {
    const now = clock.now().getTime();
    if (now > millisecond) {
      millisecond = now;
      used = 0;
    } else if (used + count > IDS_PER_MILLISECOND) {
      millisecond += 1;
      used = 0;
    }
    const bytes = randomFillSync(Buffer.allocUnsafe(count * UUID_BYTES));
    const ids: Uint8Array[] = [];
    for (let start = 0; start < bytes.length; start += UUID_BYTES) {
      bytes.writeUIntBE(millisecond, start, 6);
      bytes.writeUInt16BE(0x7000 | used, start + 6);
      bytes.writeUInt8((bytes.readUInt8(start + 8) & 0x3f) | 0x80, start + 8);
      ids.push(bytes.subarray(start, start + UUID_BYTES));
      used += 1;
    }
    return { at: millisecond, ids };
  };
}
