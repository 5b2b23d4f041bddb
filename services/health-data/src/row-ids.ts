import { hash } from 'node:crypto';
import type { Metric } from '@phds/catalog/metrics';
import type { HealthRecordKind } from './record-kinds.ts';

/** The natural key of a user's reading: a second one with the same key replaces the first. */
export interface ReadingKey {
  readonly metric: Metric;
  readonly startAt: Date;
  readonly endAt: Date;
  readonly source: string;
}

// These ids never leave the service: anybody who knows a person's data could use them to test guesses of the user id
// (public-ids.ts).

/** The id of a reading's row: 128 bits of the SHA-256 of its natural key, so that a repeated import finds its own rows. */
export function toReadingId(userId: string, { metric, startAt, endAt, source }: ReadingKey): string {
  return toId(['reading', userId, metric.key, startAt.getTime(), endAt.getTime(), source]);
}

/** The id of a record's row, computed in the same way. */
export function toHealthRecordId(
  userId: string,
  kind: HealthRecordKind,
  source: string,
  key: string,
): string {
  return toId([kind, userId, source, key]);
}

function toId(naturalKey: readonly (string | number)[]): string {
  return toUuid(hash('sha256', JSON.stringify(naturalKey), 'hex'));
}

/** Formats the first 32 hexadecimal digits as a UUID. */
export function toUuid(digits: string): string {
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
}
