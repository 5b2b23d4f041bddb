import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { repositoryRoot } from '@phds/local-stack/data-directory';
import type { Stack } from '@phds/local-stack/stack';
import { cpuSeconds } from './cpu.ts';
import { peakMegabytes, resetPeak } from './memory.ts';

/** The result of one import. */
export interface Imported {
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
export async function runPhds(
  stack: Pick<Stack, 'rpcAddresses' | 'keys'>,
  args: readonly string[],
  onPoll: (pid: number) => void = () => undefined,
): Promise<string> {
  const { scripts } = JSON.parse(readFileSync(join(repositoryRoot, 'package.json'), 'utf8'));
  const [, ...flags] = String(scripts.phds).split(' ');
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
export async function measureImport(
  stack: Stack,
  processes: ReadonlyMap<string, number>,
  { file, user }: { readonly file: string; readonly user: string },
): Promise<Imported> {
  const healthData = processes.get('health-data') ?? 0;
  resetPeak(healthData);
  const before = readCpu(processes);
  const importer = { cpu: 0, memory: 0 };
  const started = performance.now();
  const output = await runPhds(stack, ['import', 'apple', file, '--user', user, '--json'], (pid) => {
    importer.cpu = Math.max(importer.cpu, cpuSeconds(pid));
    importer.memory = Math.max(importer.memory, peakMegabytes(pid));
  });
  const seconds = (performance.now() - started) / 1000;
  const { stored, refusedCount, leftOutCount } = JSON.parse(output);
  const after = readCpu(processes);
  const used = Object.keys(after).map((name) => [name, (after[name] ?? 0) - (before[name] ?? 0)]);
  return {
    seconds,
    items: stored.inserted + stored.updated + stored.unchanged + refusedCount + leftOutCount,
    inserted: stored.inserted,
    cpu: { importer: importer.cpu, ...Object.fromEntries(used) },
    memory: { importer: importer.memory, 'health-data': peakMegabytes(healthData) },
  };
}

function readCpu(processes: ReadonlyMap<string, number>): Record<string, number> {
  const names = ['health-data', 'postgres'];
  return Object.fromEntries(names.map((name) => [name, cpuSeconds(processes.get(name) ?? 0)]));
}
