import { type ChainedBatch, digestAccessRecord, hashBatch, hashBeginning, parseUuid } from '../src/chain.ts';
import type { StoredAccessRecord } from '../src/verification.ts';

export const WRITERS = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'];
const PERSON = parseUuid('33333333-3333-4333-8333-333333333333');
export const START = Date.parse('2026-03-01T12:00:00Z');

export interface History {
  batches: ChainedBatch[];
  records: StoredAccessRecord[];
}

/** Two writers in alternation; the two batches of each pair have the same time. */
export function makeHistory(batchesEach = 4, recordsEach = 3): History {
  const history: History = { batches: [], records: [] };
  const previous = WRITERS.map((writer) => hashBeginning(writer));
  let serial = 0;
  for (let seq = 0; seq < batchesEach; seq += 1) {
    for (const [index, writer] of WRITERS.entries()) {
      const at = START + seq * 1_000;
      const records = Array.from({ length: recordsEach }, (_, ordinal): StoredAccessRecord => {
        const id = Buffer.alloc(16);
        id.writeUIntBE(at, 0, 6);
        serial += 1;
        id.writeUInt32BE(serial, 12);
        const content = {
          scope: 'read:mood',
          endpoint: '/api/v1/mood',
          from: '',
          to: '',
          page: 1,
          recordCount: 2,
        };
        const ids = {
          id,
          at,
          userRef: PERSON,
          clientId: 'app_1',
          grantId: 'grt_1',
          requestId: `req_${serial}`,
        };
        return { ...ids, ...content, refersTo: null, verdict: '', writer, seq, ordinal };
      });
      const digests = Buffer.concat(records.map(digestAccessRecord));
      const previousHash = previous[index]!;
      const hash = hashBatch(previousHash, seq, digests);
      previous[index] = hash;
      history.records.push(...records);
      history.batches.push({ writer, seq, at, recordCount: recordsEach, digests, previousHash, hash });
    }
  }
  return history;
}

/** In the database's order, in pages that do not align with batches. */
export async function* pages<Item>(items: readonly Item[]): AsyncGenerator<Item[]> {
  for (let start = 0; start < items.length; start += 5) yield items.slice(start, start + 5);
}
