import type { ImportedHealthRecord, ImportedProfile, ImportedReading, Origin } from './imported-item.ts';

/** Reads one format. Arguments, sending, progress, report and resuming are shared by all importers. */
export interface Importer {
  /** Name on the command line: `phds import <format>`. */
  readonly format: string;
  /** Whether one command may name several files, which then count as one import. */
  readonly takesSeveral: boolean;
  /**
   * Checks the files as far as possible without storing anything, and determines the patient. Throws UnusableFile with the problem.
   */
  open(request: ImportRequest): Promise<ImportSource>;
}

/** The arguments of the command. */
export interface ImportRequest {
  /** Absolute paths, at least one; exactly one unless the importer takes several. */
  readonly paths: readonly string[];
  /** The chosen patient, for files with several; null if not given. Importers without patients throw UnusableFile. */
  readonly patient: string | null;
  /** Reports the progress of a check that reads the whole input, in bytes. */
  onChecked(done: number, total: number): void;
}

/** An opened input that can be read from the start or from a position of an earlier run. */
export interface ImportSource extends AsyncDisposable {
  /** The files that determine the content, in order. Two sources with equal content are the same import. */
  readonly files: readonly string[];
  /** The final position, for the progress bar; may be an estimate. */
  readonly size: number;
  /**
   * The person's presumed IANA time zone, used unless they have one. It is sent first, so that summaries use it from the beginning.
   */
  readonly timeZone?: string | null;
  /** The origin for people, such as `line 17`. */
  describe(origin: number): string;
  /**
   * Passes every item of the input to the sink, in input order, except items before position `from` (0: none); profile facts are
   * always passed. Memory must not grow with the input. Throws UnusableFile.
   */
  read(sink: ImportSink, from: number): Promise<void>;
}

/**
 * Receives what an importer reads. Each input item leads to exactly one call of `reading`, `record`, `leftOut` or `refused` (or
 * several, if it contains several), so that the report adds up. Of readings with the same type, times and source the last one is
 * kept.
 */
export interface ImportSink {
  reading(reading: ImportedReading, origin: Origin): void;
  record(record: ImportedHealthRecord, origin: Origin): void;
  /** Counts items that are skipped on purpose. The reason contains no value. */
  leftOut(type: string, reason: string): void;
  /** Counts an item that cannot be imported. The reason contains no value, so that equal causes can be grouped. */
  refused(type: string, reason: string, origin: Origin): void;
  /** Adds facts about the person; later values replace earlier ones. They are stored at the end. */
  profile(facts: ImportedProfile): void;
  /**
   * States that everything before this position has been passed on, and nothing after it; an interrupted import resumes from such a
   * position. Positions are integers that increase along the input (for example bytes) and are the same in every run. Await it
   * after each small piece of input (a record, or some hundred kilobytes): it waits while enough batches are in progress. Rejects
   * if health-data does not accept the data.
   */
  reached(position: number): Promise<void>;
}

/** The sink for items before the resume position: it only passes on facts about the person. */
export function withoutItems(sink: ImportSink): ImportSink {
  return {
    reading: () => undefined,
    record: () => undefined,
    leftOut: () => undefined,
    refused: () => undefined,
    profile: (facts) => sink.profile(facts),
    reached: () => Promise.resolve(),
  };
}
