import type { MessageInitShape } from '@bufbuild/protobuf';
import type { HealthRecordSchema } from '@phds/contracts/phds/healthdata/v1/ingestion_pb';

/** A record in the form of the ingestion rpc. */
export type SyntheticHealthRecord = MessageInitShape<typeof HealthRecordSchema>;

/** The content of a record, by its kind. */
export type HealthRecordContent = NonNullable<SyntheticHealthRecord['record']>;
