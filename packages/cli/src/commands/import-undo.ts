import type { Client } from '@connectrpc/connect';
import { HealthRecordKind, type IngestionService } from '@phds/contracts/phds/healthdata/v1/ingestion_pb';
import { AppError } from '@phds/service-kit/errors';
import { NotConfigured } from '../connection.ts';
import { digestContent, retryWhenUnavailable } from '../importers/ingest/import-log.ts';
import { ImportRun } from '../importers/ingest/import-run.ts';
import {
  type HealthRecordInit,
  type ImportSource,
  type ReadingInit,
  zoneOfDates,
} from '../importers/ingest/importer.ts';
import { EXIT_DONE, EXIT_FAILED, toJson } from './command.ts';
import { type CommandSurroundings, explain, type ImportArguments, openSource, toRow } from './import.ts';

type Ingestion = Client<typeof IngestionService>;

export interface UndoArguments extends Omit<ImportArguments, 'again' | 'reportFile'> {
  /** Counts, and removes nothing. */
  readonly dryRun: boolean;
}

/** What is removed, or in a dry run what the files contain. */
interface Counts {
  readings: number;
  records: number;
}

/**
 * `phds imports undo`: removes the readings and health records that the files contain, by their natural keys, through the same rpcs as
 * an importer, so that changes, summaries and cursors follow. Only files that were imported for this user. Returns the exit code.
 */
export async function undoImport(
  args: UndoArguments,
  { output, errors, connect }: CommandSurroundings,
): Promise<number> {
  const counts: Counts = { readings: 0, records: 0 };
  let failure: string | null = null;
  try {
    using connection = connect();
    await using source = await openSource(args, errors);
    const timeZone = await requireImported(connection.client, args, source);
    await undo(
      args,
      source,
      timeZone,
      args.dryRun ? counting(connection.client, counts) : deleting(connection.client, counts),
    );
  } catch (error) {
    failure = error instanceof NotConfigured ? error.message : explain(error);
  }
  const { dryRun, hidesUser = false, json } = args;
  if (json) {
    const user = hidesUser ? null : args.userId;
    output.write(toJson({ ok: failure === null, error: failure, user, dryRun, ...counts }));
  } else if (failure === null) {
    const { readings, records } = counts;
    output.write(
      dryRun
        ? `The files contain ${readings} readings and ${records} health records. Nothing was removed.\n`
        : `${readings} readings and ${records} health records were removed. The profile stays as it is.\n`,
    );
  }
  if (failure === null) return EXIT_DONE;
  errors.write(`${failure}\n`);
  return EXIT_FAILED;
}

/** The user's zone. Throws NotConfigured unless these files are an import of the user that is not running. */
async function requireImported(
  client: Ingestion,
  { importer, userId, patient }: UndoArguments,
  source: ImportSource,
): Promise<string> {
  const { digest } = await digestContent({ files: source.files, choices: { patient } });
  const { imports, timeZone } = await client.listImports({ userId });
  const known = imports.find((each) => each.format === importer.format && each.digest === digest);
  if (known === undefined)
    throw new NotConfigured(
      'These files with these options are not among the latest 100 imports of this user.',
    );
  if (toRow(known, Date.now()).state === 'running')
    throw new NotConfigured('The import is running. Stop it, or wait until it has ended.');
  return timeZone;
}

async function undo(
  { userId }: UndoArguments,
  source: ImportSource,
  timeZone: string,
  client: Ingestion,
): Promise<void> {
  const run = new ImportRun({ client, userId });
  await source.read(run, 0, zoneOfDates(timeZone, source));
  await run.finish();
}

const NOTHING = { result: { inserted: 0, updated: 0, unchanged: 0, refusals: [] } };

/** A client that only counts what it would be told to store. */
function counting(client: Ingestion, counts: Counts): Ingestion {
  return replacing(client, {
    async putReadings(_userId, readings) {
      counts.readings += readings.length;
    },
    async putHealthRecords(_userId, records) {
      counts.records += records.length;
    },
  });
}

/** A client that removes what it is told to store. Batches are sent concurrently, so counts are added after the answer. */
function deleting(client: Ingestion, counts: Counts): Ingestion {
  return replacing(client, {
    async putReadings(userId, readings) {
      const remove = (keys: ReturnType<typeof toReadingKey>[]) => client.deleteReadings({ userId, keys });
      const deleted = await withoutInvalid(readings.map(toReadingKey), remove);
      counts.readings += deleted;
    },
    async putHealthRecords(userId, records) {
      const remove = (keys: ReturnType<typeof toRecordKey>[]) => client.deleteHealthRecords({ userId, keys });
      const deleted = await withoutInvalid(records.map(toRecordKey), remove);
      counts.records += deleted;
    },
  });
}

interface Puts {
  putReadings(userId: string, readings: readonly ReadingInit[]): Promise<void>;
  putHealthRecords(userId: string, records: readonly HealthRecordInit[]): Promise<void>;
}

function replacing(client: Ingestion, { putReadings, putHealthRecords }: Puts): Ingestion {
  const replaced = {
    ...client,
    putReadings: ({ userId, readings }: { userId: string; readings: ReadingInit[] }) =>
      putReadings(userId, readings).then(() => NOTHING),
    putHealthRecords: ({ userId, records }: { userId: string; records: HealthRecordInit[] }) =>
      putHealthRecords(userId, records).then(() => NOTHING),
    // What the profile was before is not known.
    putProfile: async () => ({}),
  };
  return replaced as unknown as Ingestion;
}

/** Removes all but the invalid keys, which were refused when they were imported. Returns how many it removed. */
async function withoutInvalid<Key>(
  keys: readonly Key[],
  remove: (keys: Key[]) => Promise<{ readonly deleted: number }>,
): Promise<number> {
  let valid = [...keys];
  while (valid.length > 0) {
    try {
      return (await retryWhenUnavailable(() => remove(valid))).deleted;
    } catch (error) {
      const invalid =
        error instanceof AppError ? new Set(error.violations.map(({ parameter }) => parameter)) : null;
      const left = valid.filter((_, index) => invalid?.has(`keys[${index}]`) !== true);
      if (left.length === valid.length) throw error;
      valid = left;
    }
  }
  return 0;
}

function toReadingKey({ type = '', start, end, source = '' }: ReadingInit) {
  return { type, ...(start && { start }), ...(end && { end }), source };
}

function toRecordKey({ key = '', source = '', record }: HealthRecordInit) {
  const name = (record?.case ?? '').replace(/[A-Z]/g, '_$&').toUpperCase();
  const kind = HealthRecordKind[name as keyof typeof HealthRecordKind] ?? HealthRecordKind.UNSPECIFIED;
  return { kind, source, key };
}
