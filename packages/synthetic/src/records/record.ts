import type { MessageInitShape } from '@bufbuild/protobuf';
import type { RecordSchema } from '@phds/contracts/phds/healthdata/v1/ingestion_pb';

/** A record in the form of the ingestion rpc. */
export type SyntheticRecord = MessageInitShape<typeof RecordSchema>;

/** The content of a record, by its kind. */
export type RecordContent = NonNullable<SyntheticRecord['record']>;
