import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { defaultDataDirectory } from '@phds/local-stack/data-directory';
import type { Stack } from '@phds/local-stack/stack';
import { type Imported, measureImport, runPhds } from './import-process.ts';
import type { Options } from './options.ts';
import { prepareStack } from './prepare-stack.ts';
import type { ReadsJob, ReadsResult } from './steady-reads.ts';

// Number of users whose data is read during the import; enough that not all rows stay in a cache.
const READERS = 300;

/** Results of the reads in one situation, one for each interval. */
type Reads = readonly ReadsResult[];

/** Imports an Apple export into a fresh stack: alone, and during a steady rate of reads through the gateway. */
export async function benchImport(options: Options): Promise<string> {
  const users = Math.min(options.users, READERS);
  await using prepared = await prepareStack('bench-import', { ...options, users, fresh: true });
  const { stack, side } = prepared;
  const file = await makeExport(stack, options.records);
  const job = {
    gateways: stack.gatewayUrls,
    requestsFile: side.job.requestsFile,
    perSecond: options.rate,
    seconds: options.seconds,
  };
  const reader = fork(join(import.meta.dirname, 'steady-reads.ts'), { serialization: 'advanced' });
  await readFor(reader, job);
  console.log('reads alone');
  const alone = [await readFor(reader, job)];
  console.log('the import alone');
  const quiet = await measureImport(stack, side.processes, { file, user: 'import-alone' });
  console.log('the import beside reads');
  const importing = measureImport(stack, side.processes, { file, user: 'import-beside-reads' });
  const beside = await readDuring(reader, job, importing);
  const busy = await importing;
  reader.disconnect();
  return report(options, { alone, beside }, { quiet, busy });
}

async function makeExport(stack: Stack, records: number): Promise<string> {
  const directory = join(defaultDataDirectory, 'bench-exports');
  const file = join(directory, `${records}.xml`);
  if (existsSync(file)) return file;
  mkdirSync(directory, { recursive: true });
  console.log(`writing an export of ${records} records`);
  const person = ['--person', 'heavy', '--records', String(records)];
  await runPhds(stack, ['generate', ...person, '--format', 'apple', '--out', file]);
  return file;
}

async function readFor(reader: ChildProcess, job: ReadsJob): Promise<ReadsResult> {
  reader.send(job);
  const [result] = (await once(reader, 'message')) as [ReadsResult];
  return result;
}

/** Reads until the work is done. The last interval extends beyond its end, and counts only if it is the only one. */
async function readDuring(reader: ChildProcess, job: ReadsJob, work: Promise<unknown>): Promise<Reads> {
  let isDone = false;
  const settled = () => {
    isDone = true;
  };
  void work.then(settled, settled);
  const stretches: ReadsResult[] = [];
  while (!isDone) stretches.push(await readFor(reader, job));
  return stretches.length > 1 ? stretches.slice(0, -1) : stretches;
}

function report(
  { records, rate, seconds }: Options,
  { alone, beside }: { readonly alone: Reads; readonly beside: Reads },
  { quiet, busy }: { readonly quiet: Imported; readonly busy: Imported },
): string {
  const faults = [...findFaults('alone', alone, quiet), ...findFaults('beside reads', beside, busy)];
  return [
    '',
    `an Apple export of ${records} records; ${rate} reads/s, in stretches of ${seconds} s`,
    '',
    '| import | records/s | s | CPU µs a record: importer | health-data | postgres | peak MB: importer | health-data |',
    '|---|---|---|---|---|---|---|---|',
    toImportRow('alone', quiet),
    toImportRow('beside reads', busy),
    '',
    '| reads | reads/s | p50 ms | p99 ms | max ms |',
    '|---|---|---|---|---|',
    toReadsRow('alone', alone),
    toReadsRow('beside the import', beside),
    '',
    ...(faults.length === 0 ? ['every record new, every read answered'] : faults),
  ].join('\n');
}

function toImportRow(name: string, { seconds, items, cpu, memory }: Imported): string {
  const used = ['importer', 'health-data', 'postgres'].map((process) =>
    (((cpu[process] ?? 0) / items) * 1_000_000).toFixed(1),
  );
  const cells = [(items / seconds).toFixed(0), seconds.toFixed(1), ...used];
  return `| ${[name, ...cells, memory['importer'], memory['health-data']].join(' | ')} |`;
}

/** Rates and medians are averaged over the intervals; the 99th percentile and the maximum are those of the worst interval. */
function toReadsRow(name: string, reads: Reads): string {
  const mean = (value: (result: ReadsResult) => number) =>
    reads.reduce((sum, result) => sum + value(result), 0) / reads.length;
  const worst = (value: (result: ReadsResult) => number) => Math.max(...reads.map(value));
  const cells = [
    mean(({ perSecond }) => perSecond),
    mean(({ latencies }) => latencies.p50),
    worst(({ latencies }) => latencies.p99),
    worst(({ latencies }) => latencies.max),
  ];
  return `| ${[name, ...cells.map((value) => value.toFixed(0))].join(' | ')} |`;
}

function findFaults(name: string, reads: Reads, { items, inserted }: Imported): string[] {
  const failures = reads.flatMap((result) => Object.entries(result.failures));
  const faults = failures.map(([status, count]) => `VOID: ${name}: ${count} reads answered ${status}`);
  const least = items * 0.99;
  return inserted < least
    ? [...faults, `VOID: ${name}: only ${inserted} of ${items} records were new`]
    : faults;
}
