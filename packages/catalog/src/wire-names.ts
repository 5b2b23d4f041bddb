// The enumerations of the public interface, in their public spelling.

/** Statuses of an app. Only `active` apps can authenticate; `revoked` also ends everything they hold. */
export const APP_STATUSES = ['active', 'suspended', 'revoked'] as const;
export type AppStatus = (typeof APP_STATUSES)[number];

/** Why an operator keeps an app from being active: suspended it, or has not approved it yet. */
export const APP_LOCK_KINDS = ['suspension', 'approval'] as const;
export type AppLockKind = (typeof APP_LOCK_KINDS)[number];

/** Statuses of a pending approval. All except `pending` are final. */
export const PENDING_STATUSES = ['pending', 'approved', 'denied', 'expired', 'cancelled'] as const;
export type PendingStatus = (typeof PENDING_STATUSES)[number];

/** Statuses of a consent grant. An ended grant never becomes active again. */
export const GRANT_STATUSES = ['active', 'expired', 'revoked'] as const;
export type GrantStatus = (typeof GRANT_STATUSES)[number];

/** Who ended a grant: the person, the app itself, the developer who revoked the app, an operator of the service, or its own end. */
export const GRANT_ENDERS = ['person', 'app', 'developer', 'operator', 'expiry'] as const;
export type GrantEnder = (typeof GRANT_ENDERS)[number];

/** What an operator did about a person. */
export const OPERATOR_ACTS = [
  'person_viewed',
  'grants_viewed',
  'accesses_viewed',
  'grant_ended',
  'sessions_ended',
  'developer_added',
  'developer_removed',
  'app_transferred',
  'own_data_downloaded',
  'other',
] as const;
export type OperatorActName = (typeof OPERATOR_ACTS)[number];

/** Why a recorded access was refused. */
export const REFUSAL_REASONS = [
  'TOKEN_EXPIRED',
  'TOKEN_REVOKED',
  'FAMILY_REVOKED',
  'GRANT_REVOKED',
  'GRANT_EXPIRED',
  'SCOPE_WITHDRAWN',
  'APP_NOT_ALIVE',
  'WINDOW_CHANGED',
  'RESTORE_UNCONFIRMED',
] as const;
export type RefusalReason = (typeof REFUSAL_REASONS)[number];

/** Widths of a trend point. */
export const TREND_BUCKETS = ['hour', 'day'] as const;
export type TrendBucket = (typeof TREND_BUCKETS)[number];

/** The default width of a trend point. */
export const TREND_BUCKET_DEFAULT: TrendBucket = 'day';

/** What an aggregation is computed from: single readings, or daily totals of additive types. */
export const AGGREGATION_BASES = ['reading', 'day'] as const;

/** Mood values, from worst to best. */
export const MOODS = [
  'veryUnpleasant',
  'unpleasant',
  'slightlyUnpleasant',
  'neutral',
  'slightlyPleasant',
  'pleasant',
  'veryPleasant',
] as const;
export type Mood = (typeof MOODS)[number];

/** Severities of symptoms, conditions and allergies; unknown is null. */
export const SEVERITIES = ['mild', 'moderate', 'severe'] as const;
export type Severity = (typeof SEVERITIES)[number];

/**
 * How often a medication is taken: the FHIR R4 timing abbreviations, `PRN` (as needed) and `OTHER`; unknown is null.
 */
export const MEDICATION_PATTERNS = [
  'QD',
  'BID',
  'TID',
  'QID',
  'QOD',
  'AM',
  'PM',
  'BED',
  'Q1H',
  'Q2H',
  'Q3H',
  'Q4H',
  'Q6H',
  'Q8H',
  'WK',
  'MO',
  'PRN',
  'OTHER',
] as const;
export type MedicationPattern = (typeof MEDICATION_PATTERNS)[number];

/** Statuses of a dose. */
export const ADHERENCE_STATUSES = ['taken', 'skipped', 'missed', 'pending'] as const;

/** Administrative gender as in FHIR; null without a profile. */
export const GENDERS = ['male', 'female', 'other', 'unknown'] as const;
export type Gender = (typeof GENDERS)[number];

/** Blood types (ABO and Rhesus); unknown is null. */
export const BLOOD_TYPES = ['A+', 'A-', 'B+', 'B-', 'AB+', 'AB-', 'O+', 'O-'] as const;
export type BloodType = (typeof BLOOD_TYPES)[number];
