import { findCheckpointFault } from '@phds/record-chain/checkpoint-verification';
import type { Fault } from '@phds/record-chain/fault';
import { findFault, type VerificationProgress } from '@phds/record-chain/verification';
import {
  findHashes,
  readBatches,
  readCheckpoints,
  readDropped,
  readRecords,
} from '../records/chain-source.ts';
import type { RecordsConnection } from '../records/connection.ts';
import { explainRecords } from '../records/explanation.ts';
import { EXIT_DONE, EXIT_FAILED } from './exit-codes.ts';

/** The records could not be read, so nothing is known about them. */
const EXIT_NOT_VERIFIED = 3;

export interface RecordsSurroundings {
  readonly output: { write(text: string): unknown };
  readonly errors: { write(text: string): unknown };
  readonly connect: () => Promise<RecordsConnection>;
}

type Progress = VerificationProgress & { checkpoints: number };

/**
 * `phds records verify`: recomputes every digest and hash, compares the chains with the signed checkpoints, and names the first
 * record that differs from what was written. Returns the exit code.
 */
export async function verifyRecords(
  { json }: { readonly json: boolean },
  { output, errors, connect }: RecordsSurroundings,
): Promise<number> {
  const progress: Progress = { records: 0, batches: 0, checkpoints: 0, ends: new Map() };
  const started = performance.now();
  let fault: Fault | null = null;
  let failure: string | null = null;
  try {
    await using connection = await connect();
    fault = await verify(connection, progress);
  } catch (error) {
    failure = explainRecords(error);
  }
  const seconds = (performance.now() - started) / 1000;
  const report = toReport(progress, seconds);
  if (json) {
    const document = { ok: fault === null && failure === null, ...report, fault, error: failure };
    output.write(`${JSON.stringify(document, null, 2)}\n`);
  } else if (failure === null) {
    output.write(`${toText(report)}${fault === null ? 'Nothing was changed.' : faultText(fault)}\n`);
  }
  if (failure !== null) {
    errors.write(`${failure}\n`);
    return EXIT_NOT_VERIFIED;
  }
  return fault === null ? EXIT_DONE : EXIT_FAILED;
}

async function verify({ snapshot, keys }: RecordsConnection, progress: Progress): Promise<Fault | null> {
  const dropped = await readDropped(snapshot);
  const chains = { batches: readBatches(snapshot), records: readRecords(snapshot), dropped };
  const fault = await findFault(chains, progress);
  if (fault !== null) return fault;
  const checkpoints = readCheckpoints(snapshot);
  const { ends } = progress;
  return findCheckpointFault(
    { checkpoints, keys, dropped, ends, findHashes: (heads) => findHashes(snapshot, heads) },
    progress,
  );
}

function toReport({ records, batches, checkpoints, ends }: Progress, seconds: number) {
  return {
    records,
    batches,
    writers: ends.size,
    checkpoints,
    seconds: Math.round(seconds * 100) / 100,
    recordsPerSecond: Math.round(records / seconds),
  };
}

function toText(report: ReturnType<typeof toReport>): string {
  const number = (value: number) => value.toLocaleString('en');
  const { records, batches, writers, checkpoints, seconds, recordsPerSecond } = report;
  return (
    `${number(records)} records in ${number(batches)} batches of ${number(writers)} writers, ` +
    `${number(checkpoints)} checkpoints; ${seconds} s, ${number(recordsPerSecond)} records a second.\n`
  );
}

function faultText({ kind, subject, recordId, writer, seq, ordinal, detail }: Fault): string {
  const name = recordId === null ? `A ${subject}` : `The record ${recordId}`;
  const place = [
    ...(writer === null ? [] : [`writer ${writer}`]),
    ...(seq === null ? [] : [`batch ${seq}`]),
    ...(ordinal === null ? [] : [`record ${ordinal}`]),
  ].join(', ');
  return `${name} was ${kind}: ${detail}${place === '' ? '' : ` (${place})`}.`;
}
