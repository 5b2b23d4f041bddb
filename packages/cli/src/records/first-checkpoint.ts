import type { KeyObject } from 'node:crypto';
import { findCheckpointContent } from '@phds/record-chain/checkpoint';
import { checkpointFault, type Fault } from '@phds/record-chain/fault';
import { findStoredCheckpoints } from './chain-source.ts';
import type { RecordsSnapshot } from './snapshot.ts';

/**
 * The number of the last checkpoint that was signed before this time (Unix milliseconds), which limits the times of what the next one
 * lists; 1 if there is none, so that missing ones are noticed. Compares signed times only, because anybody who can write to the table can
 * change the column `at`.
 */
export async function findFirstCheckpoint(
  snapshot: RecordsSnapshot,
  keys: readonly KeyObject[],
  time: number,
): Promise<{ readonly number: number } | { readonly fault: Fault }> {
  const [stored] = await snapshot.query<{ first: number | null; last: number | null }>(
    'SELECT min(number) AS first, max(number) AS last FROM consent_audit.access_checkpoint',
  );
  const first = stored?.first ?? 1;
  let [low, end] = [first, (stored?.last ?? 0) + 1];
  while (low < end) {
    const number = Math.floor((low + end) / 2);
    const jws = (await findStoredCheckpoints(snapshot, [number])).get(number);
    if (jws === undefined) return { fault: checkpointFault('removed', `checkpoint ${number} is gone`) };
    const content = findCheckpointContent(jws, keys);
    if (content?.number !== number)
      return { fault: checkpointFault('changed', `checkpoint ${number} is not signed by a known key`) };
    if (content.iat * 1000 >= time) end = number;
    else low = number + 1;
  }
  return { number: low === first ? 1 : low - 1 };
}
