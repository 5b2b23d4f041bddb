import type { MessageInitShape } from '@bufbuild/protobuf';
import type { MetricName } from '@phds/catalog/metrics';
import { findTimeZone } from '@phds/catalog/time-zones';
import type { HealthRecordSchema, ReadingSchema } from '@phds/contracts/phds/healthdata/v1/ingestion_pb';

/** A measurement from an import. */
export interface ImportedReading {
  readonly type: MetricName;
  /** Unix milliseconds. */
  readonly start: number;
  /** Unix milliseconds; equal to the start for an instant. */
  readonly end: number;
  /** Null only for an ECG without a heart rate. */
  readonly value: number | null;
  /** UCUM or a spelling used in real files; health-data converts it. */
  readonly unit: string;
  /** Normalised label such as `apple-watch`; never the name of a device's owner. */
  readonly source: string;
}

/** A record from an import, in the form of the ingestion rpc. */
export interface ImportedHealthRecord {
  /** The report's name for its kind, such as `condition` or `ehr-record Encounter`. */
  readonly label: string;
  /** Stable within user, kind and source. If empty, the batcher derives a key from the content. */
  readonly key: string;
  readonly source: string;
  readonly record: NonNullable<MessageInitShape<typeof HealthRecordSchema>['record']>;
}

/** Facts about the person. Absent fields are unknown and leave the profile unchanged. */
export interface ImportedProfile {
  readonly name?: string;
  /** `male`, `female`, `other` or `unknown`. */
  readonly gender?: string;
  /** YYYY-MM-DD. */
  readonly dateOfBirth?: string;
  /** `A+` … `O-`. */
  readonly bloodType?: string;
  /** IANA zone. */
  readonly timeZone?: string;
}

export type ReadingInit = MessageInitShape<typeof ReadingSchema>;
export type HealthRecordInit = MessageInitShape<typeof HealthRecordSchema>;

/** Thrown for an item that is not imported. The reason contains no value, so that equal causes can be grouped. */
export class Refused extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'Refused';
  }
}

/** Thrown when a file cannot be imported at all. The message is for the person who ran the command. */
export class UnusableFile extends Error {
  /** Byte position in the file, from 0; null for the whole file. */
  readonly offset: number | null;

  constructor(message: string, offset: number | null = null) {
    super(offset === null ? `${message}.` : `${message} (at byte ${offset}).`);
    this.name = 'UnusableFile';
    this.offset = offset;
  }
}

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
  /**
   * Passes every item of the input to the sink, in input order, except items before position `from` (0: none); profile facts are
   * always passed. Dates without a time are days in `timeZone` (IANA). Memory must not grow with the input. Throws UnusableFile.
   */
  read(sink: ImportSink, from: number, timeZone: string): Promise<void>;
}

/** Receives what an importer reads. */
export interface ImportSink {
  /**
   * Takes what becomes of an item of this type. Each item of the input has one outcome (or several, if it contains several), so that the
   * report adds up. `origin` is its place for people, such as `line 17`. Of readings with the same type, times and source the last one is
   * kept; of facts about the person too, which are stored at the end.
   */
  take(outcome: Outcome, type: string, origin: string): void;
  /**
   * States that everything before this position has been passed on, and nothing after it; an interrupted import resumes from such a
   * position. Positions are integers that increase along the input (for example bytes) and are the same in every run. Await it
   * after each small piece of input (a record, or some hundred kilobytes): it waits while enough batches are in progress. Rejects
   * if health-data does not accept the data.
   */
  reached(position: number): Promise<void>;
}

/**
 * What becomes of an item: left out on purpose, or refused, of the type of the item unless they name another. A reason contains no value,
 * so that equal causes can be grouped.
 */
export type Outcome =
  | { readonly kind: 'reading'; readonly reading: ImportedReading }
  | { readonly kind: 'record'; readonly record: ImportedHealthRecord }
  | { readonly kind: 'profile'; readonly facts: ImportedProfile }
  | { readonly kind: 'left-out' | 'refused'; readonly type?: string; readonly reason: string };

/** The zone in which dates of an input begin: the person's, else the presumed one, else UTC, as in summaries. */
export function zoneOfDates(own: string, { timeZone }: Pick<ImportSource, 'timeZone'>): string {
  return findTimeZone(own) ?? timeZone ?? 'UTC';
}

/** The sink for items before the resume position: it only passes on facts about the person. */
export function withoutItems(sink: ImportSink): ImportSink {
  return {
    take(outcome, type, origin) {
      if (outcome.kind === 'profile') sink.take(outcome, type, origin);
    },
    reached: () => Promise.resolve(),
  };
}

/**
 * Passes the items of an input to a sink, in order, and states the position after each. Of items before the resume position, only
 * facts about the person are passed on.
 */
export async function takeFrom<Item extends { readonly end: number }>(
  from: number,
  items: AsyncIterable<Item>,
  sink: ImportSink,
  take: (item: Item, sink: ImportSink) => void,
): Promise<void> {
  const earlier = withoutItems(sink);
  for await (const item of items) {
    take(item, item.end <= from ? earlier : sink);
    if (item.end > from) await sink.reached(item.end);
  }
}
