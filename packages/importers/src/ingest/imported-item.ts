import type { MessageInitShape } from '@bufbuild/protobuf';
import type { MetricName } from '@phds/catalog/metrics';
import type { ReadingSchema, RecordSchema } from '@phds/contracts/phds/healthdata/v1/ingestion_pb';

/** A measurement that an importer found. */
export interface ImportedReading {
  readonly type: MetricName;
  /** Unix milliseconds. */
  readonly start: number;
  /** Unix milliseconds; the start for a moment. */
  readonly end: number;
  /** Null only for an ECG without a heart rate. */
  readonly value: number | null;
  /** UCUM or a spelling of real files; health-data converts it. */
  readonly unit: string;
  /** Normalised label such as `apple-watch`; never a device owner's name. */
  readonly source: string;
}

/** A record that an importer found, as the ingestion rpc takes it. */
export interface ImportedRecord {
  /** What the report counts it under, such as `condition` or `ehr-record Encounter`. */
  readonly label: string;
  /** Stable within user, kind and source; empty lets the batcher derive one from the content. */
  readonly key: string;
  readonly source: string;
  readonly record: NonNullable<MessageInitShape<typeof RecordSchema>['record']>;
}

/** What a file says about the person; absent is unknown and leaves the profile as it is. */
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

/** Where an item stands: a number that the source can describe (cheap to keep for every item), or the text itself. */
export type Origin = number | string;

export type ReadingInit = MessageInitShape<typeof ReadingSchema>;
export type RecordInit = MessageInitShape<typeof RecordSchema>;
