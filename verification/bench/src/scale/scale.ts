import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { toDatabaseUrl } from '@phds/database/postgres-names';
import { defaultDataDirectory } from '@phds/dev-stack/data-directory';
import type pg from 'pg';
import { openAdmin } from '../capacity/observe.ts';
import { measureInTurn, type Side } from '../measure.ts';
import type { Options } from '../options.ts';
import { prepareStack } from '../prepare-stack.ts';
import { makeCertificate, startProxy } from './haproxy.ts';
import { startReplicas } from './replicas.ts';
import { type Chain, reportScale } from './scale-report.ts';
import { sampleWaits } from './waits.ts';

export const COUNTS = ['1', '2', '3'] as const;

/** Measures one, two and three replicas of every service behind haproxy in turn. */
export async function benchScale(options: Options): Promise<string> {
  const load = readLoad();
  const dataDirectory = join(defaultDataDirectory, 'bench-scale');
  await using cleanup = new AsyncDisposableStack();
  const { stack, side } = cleanup.use(await prepareStack('bench-scale', options));
  // Their databases are used by the replicas.
  for (const name of ['gateway-1', 'health-data', 'authorization', 'consent'])
    await stack.processes.get(name)?.stop();
  const certificate = makeCertificate(dataDirectory);
  // Read by the load program when it starts.
  process.env['NODE_EXTRA_CA_CERTS'] = certificate.authority;
  const sides: Record<string, Side> = {};
  for (const count of COUNTS) {
    console.log(`starting ${count} of each service`);
    const replicas = cleanup.use(await startReplicas({ stack, dataDirectory, count: Number(count) }));
    const proxy = cleanup.use(await startProxy(dataDirectory, certificate, replicas.gateways));
    const servers = ['postgres', 'redis'].map((name) => [name, side.processes.get(name) ?? 0] as const);
    sides[count] = {
      job: { ...side.job, url: proxy.url },
      processes: new Map([['haproxy', proxy.pid], ...replicas.processes, ...servers]),
    };
  }
  const admin = cleanup.use(await openAdmin(toDatabaseUrl(stack.adminDatabaseUrl, { database: 'phds' })));
  const before = await readRecords(admin);
  const endWaits = sampleWaits(cleanup.use(await openAdmin(stack.adminDatabaseUrl)));
  const rounds = await measureInTurn(sides, options.rounds, console.log);
  const waits = await endWaits();
  const after = await readRecords(admin);
  const chains = after.filter(({ writer }) => !before.some((known) => known.writer === writer));
  return reportScale({ rounds, waits, chains, loads: [load, readLoad()] }, options);
}

function readLoad(): string {
  return readFileSync('/proc/loadavg', 'utf8').split(' ').slice(0, 3).join(' ');
}

async function readRecords(admin: pg.Client): Promise<Chain[]> {
  const { rows } = await admin.query<Chain>(
    'SELECT writer, count(*)::int AS batches, sum(record_count)::int AS records FROM consent.access_batch GROUP BY 1',
  );
  return rows;
}
