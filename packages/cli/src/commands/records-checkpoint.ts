import { toAnchor } from '@phds/record-chain/anchor';
import { findCheckpointContent } from '@phds/record-chain/checkpoint';
import { findNewestCheckpoint } from '../records/chain-source.ts';
import { explainRecords } from '../records/explanation.ts';
import { EXIT_DONE, EXIT_FAILED } from './exit-codes.ts';
import type { RecordsSurroundings } from './records-verify.ts';

/** `phds records checkpoint`: prints the anchor of the newest checkpoint, one line of JSON. Returns the exit code. */
export async function printCheckpoint({ output, errors, connect }: RecordsSurroundings): Promise<number> {
  const fail = (problem: string) => {
    errors.write(`${problem}\n`);
    return EXIT_FAILED;
  };
  try {
    await using connection = await connect();
    const jws = await findNewestCheckpoint(connection.snapshot);
    if (jws === null) return fail('There is no checkpoint yet.');
    if (findCheckpointContent(jws, connection.keys) === null)
      return fail('The newest checkpoint is not signed by a known key.');
    output.write(`${JSON.stringify(toAnchor(jws))}\n`);
    return EXIT_DONE;
  } catch (error) {
    return fail(explainRecords(error));
  }
}
