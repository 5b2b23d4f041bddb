import type { MessageInitShape } from '@bufbuild/protobuf';
import type { MetricName } from '@phds/catalog/metrics';
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

/** The position of an item: a number that the source can describe (cheap to store for every item), or the text itself. */
export type Origin = number | string;

export type ReadingInit = MessageInitShape<typeof ReadingSchema>;
export type HealthRecordInit = MessageInitShape<typeof HealthRecordSchema>;
