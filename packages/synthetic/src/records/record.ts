import type { MessageInitShape } from '@bufbuild/protobuf';
import type { RecordSchema } from '@phds/contracts/phds/healthdata/v1/ingestion_pb';

/** A record as the ingestion rpc takes it. */
export type SyntheticRecord = MessageInitShape<typeof RecordSchema>;

/** What stands in a record, by its kind. */
export type RecordContent = NonNullable<SyntheticRecord['record']>;
