import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readPostgresPid } from '@phds/guarantees/processes';
import { defaultDataDirectory } from '@phds/local-stack/data-directory';
import { startRecordsServer } from '@phds/running-system/records-server';
import { measureInTurn } from './measure.ts';
import type { Options } from './options.ts';
import { prepareStack } from './prepare-stack.ts';
import { toSideColumns, toSideRows, toTable, toVerdict } from './report.ts';

/** Compares reads whose access records are on the server of the ledger with reads whose records are on a second server. */
export async function benchRecords(options: Options): Promise<string> {
  const { rounds: number, seconds, users, connections } = options;
  // Tables of an earlier run would have more rows on one side.
  const fresh = { ...options, fresh: true };
  await using beside = await prepareStack('bench-records-beside', fresh);
  const directory = join(defaultDataDirectory, 'bench-records-server');
  await rm(directory, { recursive: true, force: true });
  await using records = await startRecordsServer(directory);
  await using elsewhere = await prepareStack('bench-records-elsewhere', fresh, {
    environment: { consent: { RECORDS_DATABASE_URL: records.database.url } },
  });
  const sides = {
    'one server': beside.side,
    'records elsewhere': {
      ...elsewhere.side,
      processes: new Map([...elsewhere.side.processes, ['records', readPostgresPid(directory)]]),
    },
  };
  const rounds = await measureInTurn(sides, number, console.log);
  const compared = { base: 'one server', processes: [...sides['records elsewhere'].processes.keys()] };
  return [
    '',
    `${users} users, ${connections} connections, ${number} rounds of ${seconds} s`,
    '',
    toTable(toSideColumns(compared), toSideRows(rounds, compared)),
    '',
    toVerdict(rounds.flatMap((round) => Object.values(round))),
  ].join('\n');
}
