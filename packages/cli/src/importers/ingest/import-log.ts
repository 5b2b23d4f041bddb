import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { setTimeout as sleepFor } from 'node:timers/promises';
import type { Client } from '@connectrpc/connect';
import { ImportState, type IngestionService } from '@phds/contracts/phds/healthdata/v1/ingestion_pb';
import { AppError } from '@phds/service-kit/errors';
import { parseReportData, type ReportData } from './report.ts';

/** Resolves after this many milliseconds. */
export type Sleep = (milliseconds: number) => Promise<unknown>;

const MAX_ATTEMPTS = 8;
const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 5_000;

/**
 * Retries while the service is unavailable, up to 8 times over about 15 seconds, which covers a restart. For idempotent calls only.
 * Rejects with the last error, and immediately with any other error.
 */
export async function retryWhenUnavailable<Result>(
  call: () => Promise<Result>,
  sleep: Sleep = sleepFor,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      const isAway = error instanceof AppError && error.reason === 'unavailable';
      if (!isAway || attempt === MAX_ATTEMPTS) throw error;
      await sleep(Math.min(FIRST_WAIT_MS * 2 ** (attempt - 1), LONGEST_WAIT_MS));
    }
  }
}

/** The content of files, in order, and the options that affect what is imported. */
interface ContentToDigest {
  readonly files: readonly string[];
  readonly choices: Readonly<Record<string, string | null>>;
}

/** The result of reading the files. */
interface ContentDigest {
  /** SHA-256, lower-case hex. */
  readonly digest: string;
  /** Bytes. */
  readonly size: number;
}

const CHUNK_BYTES = 1024 * 1024;

/** Identifies content by its digest: equal files with equal options are the same import, wherever they are. */
export async function digestContent({ files, choices }: ContentToDigest): Promise<ContentDigest> {
  const digests: string[] = [];
  let size = 0;
  for (const file of files) {
    const hash = createHash('sha256');
    for await (const chunk of createReadStream(file, {
      highWaterMark: CHUNK_BYTES,
    }) as AsyncIterable<Buffer>) {
      hash.update(chunk);
      size += chunk.length;
    }
    digests.push(hash.digest('hex'));
  }
  const digest = createHash('sha256')
    .update(JSON.stringify([choices, digests]))
    .digest('hex');
  return { digest, size };
}

interface ImportLogOptions {
  readonly client: Client<typeof IngestionService>;
  readonly userId: string;
  readonly format: string;
  readonly content: ContentDigest;
  /** Starts from the beginning, even if an earlier run did not finish. */
  readonly again: boolean;
  readonly sleep?: Sleep;
}

/** Identifies an import of a user. */
export interface ImportName {
  readonly format: string;
  /** SHA-256 of the content and the options. */
  readonly digest: string;
}

/** Where a run starts. */
interface Beginning {
  /** Everything before it was stored by an earlier run. */
  readonly position: number;
  /** The report about everything before it; null at the start. */
  readonly report: ReportData | null;
}

/** Stores the progress of an import in health-data, for a run that resumes it. */
export class ImportLog {
  readonly beginning: Beginning;
  /** IANA zone of the person; empty if they have none. */
  readonly timeZone: string;
  readonly #options: ImportLogOptions;
  readonly #run: number;

  private constructor(options: ImportLogOptions, run: number, beginning: Beginning, timeZone: string) {
    this.#options = options;
    this.#run = run;
    this.beginning = beginning;
    this.timeZone = timeZone;
  }

  get name(): ImportName {
    const { format, content } = this.#options;
    return { format, digest: content.digest };
  }

  /** Starts or resumes the import. Rejects with AppError. */
  static async open(options: ImportLogOptions): Promise<ImportLog> {
    const { client, userId, format, again, sleep } = options;
    const { digest, size } = options.content;
    const request = { userId, format, digest, size: BigInt(size), again };
    const started = await retryWhenUnavailable(() => client.startImport(request), sleep);
    const { run, position, report, timeZone } = started;
    const data = parseReportData(report);
    // The position is useless without a report about everything before it.
    const beginning =
      data === null ? { position: 0, report: null } : { position: Number(position), report: data };
    return new ImportLog(options, run, beginning, timeZone);
  }

  /** Records that everything before the position is stored, with its report. Rejects with AppError. */
  async note(position: number, report: ReportData, state = ImportState.RUNNING): Promise<void> {
    await retryWhenUnavailable(() => this.#report(position, report, state), this.#options.sleep);
  }

  /** Records that the run failed. Ignores errors: an unavailable service may be the reason for the failure. */
  async noteFailure(position: number, report: ReportData): Promise<void> {
    await this.#report(position, report, ImportState.FAILED).catch(() => undefined);
  }

  async #report(position: number, report: ReportData, state: ImportState): Promise<void> {
    const { client, userId } = this.#options;
    await client.reportImport({
      userId,
      ...this.name,
      run: this.#run,
      position: BigInt(position),
      report: JSON.stringify(report),
      state,
    });
  }
}
