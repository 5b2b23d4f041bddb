import { randomFillSync } from 'node:crypto';
import type { Clock } from '@phds/service-kit/clock';

/** Ids within one millisecond count up in the 12 bits of `rand_a`; past them the next millisecond is borrowed. */
const SEQUENCE_LIMIT = 0x1000;

/** Makes UUIDs of version 7 (RFC 9562 section 5.7, method 1 of 6.2): in one process each is greater than the one before. */
export function createRecordIds(clock: Clock): () => string {
  const bytes = Buffer.alloc(16);
  let millisecond = 0;
  let sequence = 0;
  return () => {
    const now = clock.now().getTime();
    if (now > millisecond) {
      millisecond = now;
      sequence = 0;
    } else {
      sequence += 1;
      if (sequence === SEQUENCE_LIMIT) {
        millisecond += 1;
        sequence = 0;
      }
    }
    randomFillSync(bytes, 8, 8);
    bytes.writeUIntBE(millisecond, 0, 6);
    bytes.writeUInt16BE(0x7000 | sequence, 6);
    bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
    const hex = bytes.toString('hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  };
}
