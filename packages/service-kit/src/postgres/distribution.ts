/**
 * Where the rows of each table are kept when the service has outgrown one Postgres server (docs/operations/deploy.md#health-data-on-several-servers). A test
 * compares this with the catalog after all migrations, so every new table needs a line here.
 */

/** Tables whose rows Citus spreads over servers by a hash of one column. Rows with the same value are on the same server. */
interface DistributedSchema {
  readonly schema: string;
  readonly column: string;
  /** All of them share their shards with the first one. */
  readonly tables: readonly [string, ...string[]];
}

export const DISTRIBUTED: DistributedSchema = {
  schema: 'health_data',
  column: 'user_id',
  tables: [
    'profile',
    'reading',
    'reading_count',
    'reading_change',
    'deleted_reading',
    'reading_quarter',
    'symptom',
    'medication',
    'adherence_entry',
    'condition',
    'allergy',
    'appointment',
    'mood_entry',
    'report',
    'ehr_record',
    'import',
  ],
};

/** Fixed when the first table is distributed: more servers take over shards, they do not split them. */
export const SHARD_COUNT = 128;

/** Why a table stays on one server. */
type LocalReason =
  /** The judgement of an access reads it in one snapshot, and a revocation changes it in one commit. */
  | 'ledger'
  /** Written in the same transaction as the ledger. */
  | 'beside-ledger'
  /** Records of accesses and what protects them: one commit for a batch, read by writer and by person. */
  | 'records'
  /** Found by the hash of a secret, a few hundred bytes for each token that has not expired. */
  | 'credentials'
  /** A few rows for each app or instance. */
  | 'small';

/** Tables that stay on one server, by schema. */
export const LOCAL: Readonly<Record<string, Readonly<Record<string, LocalReason>>>> = {
  consent: {
    app: 'ledger',
    consent_grant: 'ledger',
    revoked_family: 'ledger',
    revoked_token: 'ledger',
    session_end: 'ledger',
    app_epoch: 'beside-ledger',
    app_profile: 'beside-ledger',
    consent_event: 'beside-ledger',
    pending_approval: 'beside-ledger',
    person: 'beside-ledger',
    webhook_attempt: 'beside-ledger',
    webhook_event: 'beside-ledger',
    app_day: 'records',
    refused_request: 'small',
    refused_read: 'small',
    webhook_endpoint: 'small',
    webhook_fanout: 'small',
    webhook_scan: 'small',
    access_batch: 'records',
    access_uncounted: 'records',
    access_record: 'records',
    access_day: 'records',
  },
  consent_audit: {
    instance: 'ledger',
    restore: 'ledger',
    restore_confirmation: 'ledger',
    access_checkpoint: 'records',
    operator_act: 'ledger',
    access_dropped: 'records',
  },
  authorization: {
    access_token: 'credentials',
    authorization_code: 'credentials',
    token_family: 'credentials',
    authorization_request: 'credentials',
    used_jwt: 'credentials',
    app: 'small',
    developer: 'small',
    instance: 'small',
    restore: 'small',
    restore_confirmation: 'small',
  },
};
