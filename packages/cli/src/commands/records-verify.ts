import { findCheckpointContent, toAnchor } from '@phds/record-chain/checkpoint';
import { findCheckpointFault } from '@phds/record-chain/checkpoint-verification';
import type { Fault } from '@phds/record-chain/fault';
import { findOperatorFault, OPERATORS } from '@phds/record-chain/operator-act';
import { findFault, type VerificationProgress } from '@phds/record-chain/verification';
import type { Command } from 'commander';
import { jsonOption, parsePath } from '../options.ts';
import {
  findNewestCheckpoint,
  findStoredHeads,
  readActs,
  readBatches,
  readCheckpoints,
  readDropped,
  readRecords,
} from '../records/chain-source.ts';
import { type AnchorProgress, findFaultOfAnchors, openAnchors } from '../records/checkpoints.ts';
import { explainRecords, type RecordsConnection } from '../records/connection.ts';
import type { Surrounded } from '../shell.ts';
import { EXIT_DONE, EXIT_FAILED, EXIT_NOT_VERIFIED, type Surroundings, toJson } from './command.ts';
import { addExport } from './records-export.ts';

export function addRecords(program: Command, surrounded: Surrounded): void {
  const { finish, withRecords } = surrounded;
  const records = program.command('records').description('Verifies and exports the access records.');
  records
    .command('verify')
    .description(
      'Recomputes the chains of the access records and of what operators did, and names the first record that was changed, removed, moved or added.',
    )
    .option(
      '--expect <file>',
      'checkpoints kept outside the database, one a line; without them a cut end is not noticed',
      parsePath,
    )
    .addOption(jsonOption('the result'))
    .action(async ({ json, expect = null }: { json: boolean; expect?: string | null }) =>
      finish(await verifyRecords({ json, expect }, withRecords)),
    );
  records
    .command('checkpoint')
    .description(
      'Prints the newest checkpoint as a line of JSON: number, head, time and signature. Keep it outside the database.',
    )
    .action(async () => finish(await printCheckpoint(withRecords)));
  addExport(records, surrounded);
}

type RecordsSurroundings = Surroundings<Promise<RecordsConnection>>;

export interface VerifyRecordsArguments {
  readonly json: boolean;
  /** File of anchors that the stored checkpoints have to match; null for none. */
  readonly expect: string | null;
}

type Progress = VerificationProgress & { acts: number; checkpoints: number } & AnchorProgress;

/**
 * `phds records verify`: recomputes every digest and hash, also of what operators did, compares the chains with the signed checkpoints, and names the first
 * record that differs from what was written. Returns the exit code.
 */
export async function verifyRecords(
  { json, expect }: VerifyRecordsArguments,
  { output, errors, connect }: RecordsSurroundings,
): Promise<number> {
  const anchorProgress = { anchors: 0, incompleteAnchors: 0, anchoredUntil: null };
  const chainProgress = { records: 0, batches: 0, acts: 0, checkpoints: 0 };
  const progress: Progress = { ...chainProgress, ...anchorProgress, ends: new Map() };
  const started = performance.now();
  let fault: Fault | null = null;
  let failure: string | null = null;
  try {
    await using anchors = expect === null ? null : await openAnchors(expect);
    await using connection = await connect();
    if (anchors !== null) fault = await findFaultOfAnchors(anchors, connection.snapshot, progress);
    fault ??= await verify(connection, progress);
  } catch (error) {
    failure = explainRecords(error);
  }
  const seconds = (performance.now() - started) / 1000;
  const report = toReport(progress, seconds);
  if (json) {
    output.write(toJson({ ok: fault === null && failure === null, ...report, fault, error: failure }));
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
  const fault =
    (await findFault(chains, progress)) ?? (await findOperatorFault(readActs(snapshot), progress));
  if (fault !== null) return fault;
  const newest = await findNewestCheckpoint(snapshot);
  const signed = {
    checkpoints: readCheckpoints(snapshot),
    newest: newest === null ? null : findCheckpointContent(newest, keys),
  };
  const { ends } = progress;
  return findCheckpointFault(
    { ...signed, keys, dropped, ends, findBatches: (heads) => findStoredHeads(snapshot, heads) },
    progress,
  );
}

function toReport({ ends, ...counted }: Progress, seconds: number) {
  return {
    ...counted,
    writers: ends.size - (ends.has(OPERATORS) ? 1 : 0),
    seconds: Math.round(seconds * 100) / 100,
    recordsPerSecond: Math.round(counted.records / seconds),
  };
}

function toText({ anchoredUntil, seconds, ...counts }: ReturnType<typeof toReport>): string {
  const count = (name: keyof typeof counts) => counts[name].toLocaleString('en');
  const anchored =
    counts.anchors === 0 ? '' : `, ${count('anchors')} anchors, the newest from ${anchoredUntil}`;
  const cut = counts.incompleteAnchors === 0 ? '' : `, ${count('incompleteAnchors')} incomplete anchors`;
  return `${count('records')} records in ${count('batches')} batches of ${count('writers')} writers, ${count('acts')} entries of the operators' record, ${count('checkpoints')} checkpoints${anchored}${cut}; ${seconds} s, ${count('recordsPerSecond')} records a second.\n`;
}

function faultText({ kind, subject, recordId, writer, seq, ordinal, detail }: Fault): string {
  if (writer === OPERATORS && seq !== null)
    return `Entry ${seq + 1} of the operators' record was ${kind}: ${detail}.`;
  const name = recordId === null ? `A ${subject}` : `The record ${recordId}`;
  const place = [
    ...(writer === null ? [] : [`writer ${writer}`]),
    ...(seq === null ? [] : [`batch ${seq}`]),
    ...(ordinal === null ? [] : [`record ${ordinal}`]),
  ].join(', ');
  return `${name} was ${kind}: ${detail}${place === '' ? '' : ` (${place})`}.`;
}

/** `phds records checkpoint`: prints the anchor of the newest checkpoint, one line of JSON. Returns the exit code. */
async function printCheckpoint({ output, errors, connect }: RecordsSurroundings): Promise<number> {
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
