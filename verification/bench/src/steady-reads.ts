// Reads at a constant rate in a separate process, spread over gateways and tokens. Receives a job over IPC and returns a result.
// Uses advanced serialization because JSON has no NaN, which is the latency when there are no reads.
import { readFileSync } from 'node:fs';
import { type Arrivals, arrive } from './arrivals.ts';
import { type Latencies, summarize } from './latencies.ts';
import { read } from './read.ts';

export interface ReadsJob extends Arrivals {
  readonly gateways: readonly string[];
  /** As in a LoadJob. */
  readonly requestsFile: string;
}

export interface ReadsResult {
  /** From the scheduled moment to the last byte. */
  readonly latencies: Latencies;
  /** Rate of responses with 200, from the first scheduled read to the last response. */
  readonly perSecond: number;
  /** Number of each status other than 200; 0 means no response. */
  readonly failures: Readonly<Record<number, number>>;
}

async function run(job: ReadsJob): Promise<ReadsResult> {
  const lines = readFileSync(job.requestsFile, 'utf8').trimEnd().split('\n');
  const milliseconds: number[] = [];
  const failures: Record<number, number> = {};
  const start = performance.now();
  await arrive(job, async (index, scheduled) => {
    const [path = '', token = ''] = (lines[Math.floor(Math.random() * lines.length)] ?? '').split(' ');
    const status = await read(`${job.gateways[index % job.gateways.length]}${path}`, token);
    if (status === 200) milliseconds.push(performance.now() - scheduled);
    else failures[status] = (failures[status] ?? 0) + 1;
  });
  const seconds = (performance.now() - start) / 1000;
  return { latencies: summarize(milliseconds), perSecond: milliseconds.length / seconds, failures };
}

process.on('message', (job: ReadsJob) => {
  void run(job).then((result) => process.send?.(result));
});
process.on('disconnect', () => process.exit(0));
