import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { defaultDataDirectory, repositoryRoot } from '@phds/local-stack/data-directory';
import type { Stack } from '@phds/local-stack/stack';
import { device, exportXml, metadata, recordXml } from '@phds/test-kit/apple-exports';
import type { LoadResult, SteadyJob } from './load-job.ts';
import { type LoadProcess, startLoad } from './measure.ts';
import type { Options } from './options.ts';
import { prepareStack } from './prepare-stack.ts';
import { cpuSeconds, measureCpu, peakMegabytes, resetPeak } from './processes.ts';
import { countFailures, toTable } from './report.ts';

// Number of users whose data is read during the import; enough that not all rows stay in a cache.
const READERS = 300;

/** Results of the reads in one situation, one for each interval. */
type Reads = readonly LoadResult[];

/** Imports an Apple export into a fresh stack: alone, and during a steady rate of reads through the gateway. */
export async function benchImport(options: Options): Promise<string> {
  const users = Math.min(options.users, READERS);
  await using prepared = await prepareStack('bench-import', { ...options, users, fresh: true });
  const { stack, side } = prepared;
  const file = await makeExport(options.records);
  const job = {
    gateways: stack.gatewayUrls,
    requestsFile: side.job.requestsFile,
    perSecond: options.rate,
    seconds: options.seconds,
  };
  using reader = startLoad();
  await reader.run(job);
  console.log('reads alone');
  const alone = [await reader.run(job)];
  console.log('the import alone');
  const quiet = await measureImport(stack, side.processes, { file, user: 'import-alone' });
  console.log('the import beside reads');
  const importing = measureImport(stack, side.processes, { file, user: 'import-beside-reads' });
  const beside = await readDuring(reader, job, importing);
  const busy = await importing;
  return report(options, { alone, beside }, { quiet, busy });
}

async function makeExport(records: number): Promise<string> {
  const directory = join(defaultDataDirectory, 'bench-exports');
  const file = join(directory, `watch-${records}.xml`);
  if (existsSync(file)) return file;
  mkdirSync(directory, { recursive: true });
  console.log(`writing an export of ${records} records`);
  // A run that ends meanwhile leaves no part of an export under its name.
  await pipeline(writeExport(records), createWriteStream(`${file}.part`));
  await rename(`${file}.part`, file);
  return file;
}

/** Of a watch that measures something every five seconds, up to the end of 2025. */
const MEASURED = [
  { type: 'HeartRate', unit: 'count/min', value: '71' },
  { type: 'StepCount', unit: 'count', value: '9' },
  { type: 'ActiveEnergyBurned', unit: 'kcal', value: '0.4' },
  { type: 'OxygenSaturation', unit: '%', value: '0.97' },
];

const DEVICE = device({
  name: 'Apple Watch',
  manufacturer: 'Apple Inc.',
  model: 'Watch',
  hardware: 'Watch6,7',
  software: '10.2',
});
const MOTION = metadata('HKMetadataKeyHeartRateMotionContext', '1');

function* writeExport(records: number): Generator<string> {
  const [head = '', tail = ''] = exportXml('@').split('@');
  yield head;
  for (let index = 0; index < records; index += 1) {
    const at = new Date(Date.UTC(2026, 0) - (records - index) * 5_000).toISOString();
    const date = `${at.slice(0, 10)} ${at.slice(11, 19)} +0000`;
    const times = { creationDate: date, startDate: date, endDate: date };
    const { type, ...measured } = MEASURED[index % MEASURED.length] as (typeof MEASURED)[number];
    const attributes = { type: `HKQuantityTypeIdentifier${type}`, device: DEVICE, ...measured, ...times };
    yield `${recordXml(attributes, MOTION)}\n`;
  }
  yield tail;
}

/** Reads until the work is done. The last interval extends beyond its end, and counts only if it is the only one. */
async function readDuring(reader: LoadProcess, job: SteadyJob, work: Promise<unknown>): Promise<Reads> {
  let isDone = false;
  const settled = () => {
    isDone = true;
  };
  void work.then(settled, settled);
  const stretches: LoadResult[] = [];
  while (!isDone) stretches.push(await reader.run(job));
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
    toTable(
      [
        'import',
        'records/s',
        's',
        'CPU µs a record: importer',
        'health-data',
        'postgres',
        'peak MB: importer',
        'health-data',
      ],
      [toImportRow('alone', quiet), toImportRow('beside reads', busy)],
    ),
    '',
    toTable(
      ['reads', 'reads/s', 'p50 ms', 'p99 ms', 'max ms'],
      [toReadsRow('alone', alone), toReadsRow('beside the import', beside)],
    ),
    '',
    ...(faults.length === 0 ? ['every record new, every read answered'] : faults),
  ].join('\n');
}

function toImportRow(name: string, { seconds, items, cpu, memory }: Imported): unknown[] {
  const used = ['importer', 'health-data', 'postgres'].map((process) =>
    (((cpu[process] ?? 0) / items) * 1_000_000).toFixed(1),
  );
  const speed = [(items / seconds).toFixed(0), seconds.toFixed(1)];
  return [name, ...speed, ...used, memory['importer'], memory['health-data']];
}

/** Rates and medians are averaged over the intervals; the 99th percentile and the maximum are those of the worst interval. */
function toReadsRow(name: string, reads: Reads): unknown[] {
  const mean = (value: (result: LoadResult) => number) =>
    reads.reduce((sum, result) => sum + value(result), 0) / reads.length;
  const worst = (value: (result: LoadResult) => number) => Math.max(...reads.map(value));
  const cells = [
    mean(({ perSecond }) => perSecond),
    mean(({ p50 }) => p50),
    worst(({ p99 }) => p99),
    worst(({ max }) => max),
  ];
  return [name, ...cells.map((value) => value.toFixed(0))];
}

function findFaults(name: string, reads: Reads, { items, inserted }: Imported): string[] {
  const failed = countFailures(reads);
  const faults = failed === 0 ? [] : [`VOID: ${name}: ${failed} reads failed`];
  const least = items * 0.99;
  return inserted < least
    ? [...faults, `VOID: ${name}: only ${inserted} of ${items} records were new`]
    : faults;
}

/** The result of one import. */
interface Imported {
  readonly seconds: number;
  /** Items of the file: stored, skipped and refused. */
  readonly items: number;
  readonly inserted: number;
  /** Seconds by process. */
  readonly cpu: Readonly<Record<string, number>>;
  /** Peak resident memory in MB by process. */
  readonly memory: Readonly<Record<string, number>>;
}

const POLL_MS = 50;

/** Runs a command of `pnpm phds` with the same program and flags as the script. Returns its output. */
async function runPhds(
  stack: Pick<Stack, 'rpcAddresses' | 'keys'>,
  args: readonly string[],
  onPoll: (pid: number) => void = () => undefined,
): Promise<string> {
  const { scripts } = JSON.parse(readFileSync(join(repositoryRoot, 'package.json'), 'utf8'));
  // The last command of the script; the one before it generates code.
  const [, ...flags] = String(scripts.phds).split('&& ').at(-1)?.split(' ') ?? [];
  const env = {
    ...process.env,
    HEALTH_DATA_ADDRESS: stack.rpcAddresses['health-data'],
    SERVICE_PRIVATE_KEY_FILE: stack.keys.servicePrivateKeys.importer,
  };
  const stdio = ['ignore', 'pipe', 'inherit'] as const;
  const child = spawn(process.execPath, [...flags, ...args], { cwd: repositoryRoot, env, stdio: [...stdio] });
  const timer = setInterval(() => onPoll(child.pid ?? 0), POLL_MS);
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  clearInterval(timer);
  if (code !== 0) throw new Error(`phds ${args[0]} ended with ${code}: ${output}`);
  return output;
}

/** Imports a file for a user and measures the importer and the service processes. */
async function measureImport(
  stack: Stack,
  processes: ReadonlyMap<string, number>,
  { file, user }: { readonly file: string; readonly user: string },
): Promise<Imported> {
  const healthData = processes.get('health-data') ?? 0;
  resetPeak(healthData);
  const importer = { cpu: 0, memory: 0 };
  const started = performance.now();
  const command = ['import', 'apple', file, '--user', user, '--json'];
  const { result: output, cpu } = await measureCpu(processes, () =>
    runPhds(stack, command, (pid) => {
      importer.cpu = Math.max(importer.cpu, cpuSeconds(pid));
      importer.memory = Math.max(importer.memory, peakMegabytes(pid));
    }),
  );
  const seconds = (performance.now() - started) / 1000;
  const { stored, refusedCount, leftOutCount } = JSON.parse(output);
  return {
    seconds,
    items: stored.inserted + stored.updated + stored.unchanged + refusedCount + leftOutCount,
    inserted: stored.inserted,
    cpu: { ...cpu, importer: importer.cpu },
    memory: { importer: importer.memory, 'health-data': peakMegabytes(healthData) },
  };
}
