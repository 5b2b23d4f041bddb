import type { LargerRead } from './larger-reads.ts';
import { measureCpu, type Side } from './measure.ts';
import { readFor, startReader } from './steady-reader.ts';
import type { ReadsJob, ReadsResult } from './steady-reads.ts';

/** Reads at a constant rate; `cpu` is that of all processes together, in seconds. */
export interface Stretch {
  readonly reads: ReadsResult;
  readonly cpu: number;
}

/** The same reads beside larger ones. */
export interface LargerStretch {
  readonly name: string;
  readonly reads: ReadsResult;
  readonly larger: ReadsResult;
}

export interface HalfRate {
  readonly alone: Stretch;
  readonly beside: readonly LargerStretch[];
}

/** Arrivals a second of the larger reads. */
const LARGER_PER_SECOND = 20;

/** Reads at half the rate that the side can serve: alone, then beside each of the larger reads. */
export async function measureHalfRate(
  { job, processes }: Side,
  peak: number,
  largerReads: readonly LargerRead[],
): Promise<HalfRate> {
  const [reader, largerReader] = [startReader(), startReader()];
  const { seconds, requestsFile } = job;
  const half: ReadsJob = { gateways: [job.url], perSecond: Math.round(peak / 2), seconds, requestsFile };
  // The first reads open connections and compile the reader.
  await readFor(reader, { ...half, seconds: 1 });
  const { result: reads, cpu } = await measureCpu(processes, () => readFor(reader, half));
  console.log('measured at half the rate');
  const beside: LargerStretch[] = [];
  for (const { name, requestsFile: largerFile } of largerReads) {
    const largerJob = { ...half, perSecond: LARGER_PER_SECOND, requestsFile: largerFile };
    // The first reads of a kind prepare its statements.
    await readFor(largerReader, { ...largerJob, seconds: 1 });
    const [alongside, larger] = await Promise.all([readFor(reader, half), readFor(largerReader, largerJob)]);
    beside.push({ name, reads: alongside, larger });
    console.log(`measured beside ${name}`);
  }
  for (const child of [reader, largerReader]) child.disconnect();
  return { alone: { reads, cpu: Object.values(cpu).reduce((a, b) => a + b, 0) }, beside };
}
