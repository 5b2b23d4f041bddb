import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readPostgresPid } from '@phds/guarantees/processes';
import { defaultDataDirectory, repositoryRoot } from '@phds/local-stack/data-directory';
import { startEmbeddedPostgres } from '@phds/local-stack/servers/embedded-postgres';
import { ensureServiceDatabase } from '@phds/service-kit/postgres/database-roles';
import { applyMigrations } from '@phds/service-kit/postgres/migrations';
import { measureInTurn } from './measure.ts';
import type { Options } from './options.ts';
import { prepareStack } from './prepare-stack.ts';
import { toSideColumns, toSideRows, toTable, toVerdict } from './report.ts';

/** Compares reads whose access records are on the server of the ledger with reads whose records are on a second server. */
export async function benchRecords(options: Options): Promise<string> {
  const { rounds: number, seconds, users, connections } = options;
  await using beside = await prepareStack('bench-records-beside', options);
  await using records = await startRecordsServer();
  await using elsewhere = await prepareStack(
    'bench-records-elsewhere',
    { ...options, fresh: true },
    { environment: { consent: { RECORDS_DATABASE_URL: records.url } } },
  );
  const sides = {
    'one server': beside.side,
    'records elsewhere': {
      ...elsewhere.side,
      processes: new Map([...elsewhere.side.processes, ['records', records.pid]]),
    },
  };
  const rounds = await measureInTurn(sides, number, console.log);
  const compared = { bases: ['one server'], processes: [...sides['records elsewhere'].processes.keys()] };
  return [
    '',
    `${users} users, ${connections} connections, ${number} rounds of ${seconds} s`,
    '',
    toTable(toSideColumns(compared), toSideRows(rounds, compared)),
    '',
    toVerdict(rounds.flatMap((round) => Object.values(round))),
  ].join('\n');
}

/** An empty database of the records, on a Postgres with the settings of the stacks. */
async function startRecordsServer() {
  await using cleanup = new AsyncDisposableStack();
  const directory = join(defaultDataDirectory, 'bench-records-server');
  await rm(directory, { recursive: true, force: true });
  const server = cleanup.use(await startEmbeddedPostgres({ directory, port: 0 }));
  const password = () => randomBytes(16).toString('hex');
  const passwords = { owner: password(), runtime: password() };
  const database = await ensureServiceDatabase({ ...server, service: 'consent', passwords });
  const migrations = join(repositoryRoot, 'services/consent/prisma/migrations');
  await applyMigrations({ connectionString: database.ownerUrl, schema: 'consent', directory: migrations });
  const running = cleanup.move();
  return {
    url: database.url,
    pid: readPostgresPid(directory),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
