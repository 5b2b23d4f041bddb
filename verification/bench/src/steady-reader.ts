import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { ReadsJob, ReadsResult } from './steady-reads.ts';

/** Starts the process of `steady-reads.ts`, which ends when disconnected. */
export function startReader(): ChildProcess {
  return fork(join(import.meta.dirname, 'steady-reads.ts'), { serialization: 'advanced' });
}

/** Runs one job in a reader, one at a time. */
export async function readFor(reader: ChildProcess, job: ReadsJob): Promise<ReadsResult> {
  reader.send(job);
  const [result] = (await once(reader, 'message')) as [ReadsResult];
  return result;
}
