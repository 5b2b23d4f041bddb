import type { MessageInitShape } from '@bufbuild/protobuf';
import type { MetricName } from '@phds/catalog/metrics';
import type { ReadingSchema, RecordSchema } from '@phds/contracts/phds/healthdata/v1/ingestion_pb';

/** A measurement that an importer found. */
export interface ImportedReading {
  readonly type: MetricName;
  readonly start: Date;
  /** Null is the start. */
  readonly end: Date | null;
  readonly value: number;
  /** UCUM or a spelling of real files; health-data converts it. */
  readonly unit: string;
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

/** Where in the file an item stands, as a person would look it up. */
export type Origin = string;

export type ReadingInit = MessageInitShape<typeof ReadingSchema>;
export type RecordInit = MessageInitShape<typeof RecordSchema>;
