import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** A program with the commands of bin/citus-cluster.sh, for another place or other machines. */
const PROGRAM = process.env['CITUS_CLUSTER'] ?? join(import.meta.dirname, '../../bin/citus-cluster.sh');

const toUrl = (port: number) => `postgresql://postgres@127.0.0.1:${port}/postgres`;

export const COORDINATOR = toUrl(9700);
export const WORKERS = [9701, 9702] as const;
/** A server that the coordinator does not know yet. */
export const NEWCOMER = { port: 9703, url: toUrl(9703) };

/** For TEST_CITUS_NODES. */
export const NODES = [COORDINATOR, ...WORKERS.map(toUrl)].join(',');

export async function controlCluster(
  command: 'start' | 'stop' | 'crash' | 'resume',
  port?: number,
): Promise<void> {
  await promisify(execFile)(PROGRAM, [command, ...(port === undefined ? [] : [String(port)])]);
}
