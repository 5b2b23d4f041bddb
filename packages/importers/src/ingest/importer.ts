import type { ImportedProfile, ImportedReading, ImportedRecord, Origin } from './imported-item.ts';

/** Reads one format. What all of them share (arguments, sending, progress, report, resuming) is not their business. */
export interface Importer {
  /** Name on the command line: `phds import <format>`. */
  readonly format: string;
  /** Whether one command may name several files, which count as one import. */
  readonly takesSeveral: boolean;
  /**
   * Checks the files as far as that is possible without storing anything, and finds out whom they are about. Throws
   * UnusableFile with what is wrong.
   */
  open(request: ImportRequest): Promise<ImportSource>;
}

/** What the person asked for. */
export interface ImportRequest {
  /** Absolute paths, at least one; exactly one unless the importer takes several. */
  readonly paths: readonly string[];
  /** Which patient, for files about several; null: not said. Importers that know no patients throw UnusableFile. */
  readonly patient: string | null;
  /** Tells how far a check that reads the whole input is, in bytes. */
  onChecked(done: number, total: number): void;
}

/** Input that was opened and can be read, from the start or from a position of an earlier run. */
export interface ImportSource extends AsyncDisposable {
  /** The files whose content decides what is imported, in order: two sources with equal content are the same import. */
  readonly files: readonly string[];
  /** The position after everything, for the progress bar; a fair estimate will do. */
  readonly size: number;
  /**
   * Where the person seems to live, an IANA zone: theirs unless they have one. It is told before anything else, so that
   * summaries are made for it from the beginning.
   */
  readonly timeZone?: string | null;
  /** Origin as a person would look it up, such as `line 17`. */
  describe(origin: number): string;
  /**
   * Hands every item of the input to the sink, in the order of the input, and nothing that stands before position `from`
   * (0: everything); profile facts always. Memory must not grow with the input. Throws UnusableFile.
   */
  read(sink: ImportSink, from: number): Promise<void>;
}

/**
 * Takes what an importer finds. Each item of the input ends in exactly one call of `reading`, `record`, `leftOut` or
 * `refused` (or several, when it holds several), so that the report adds up. Of readings with the same type, times and
 * source the last one handed over is the one that stays.
 */
export interface ImportSink {
  reading(reading: ImportedReading, origin: Origin): void;
  record(record: ImportedRecord, origin: Origin): void;
  /** Counts items that are not imported on purpose. The reason names no value. */
  leftOut(type: string, reason: string): void;
  /** Counts an item that cannot be imported. The reason names no value, so that equal causes group. */
  refused(type: string, reason: string, origin: Origin): void;
  /** Adds facts about the person; of two that differ the later stays. They are stored at the end. */
  profile(facts: ImportedProfile): void;
  /**
   * Says that everything before this position has been handed over, and nothing after it: an import that is interrupted
   * goes on from such a position. Positions are whole numbers that grow along the input (bytes, for instance) and mean
   * the same in every run. To be awaited after each small piece of input (a record, or some hundred kilobytes): it makes
   * the importer wait while enough is under way. Rejects when health-data does not take the data.
   */
  reached(position: number): Promise<void>;
}

/** What an importer hands items to that stand before the position it goes on from: only facts about the person pass. */
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
