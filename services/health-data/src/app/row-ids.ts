import { hash } from 'node:crypto';
import type { ReadingKey } from '../domain/reading.ts';
import type { RecordKind } from '../domain/records.ts';

/** The id of a reading's row: 128 bits of SHA-256 over its natural key, so a repeated import meets its own row. */
export function toReadingId(userId: string, { metric, startAt, endAt, source }: ReadingKey): string {
  return toUuid(['reading', userId, metric.key, startAt.getTime(), endAt.getTime(), source]);
}

/** The id of a record's row, likewise. */
export function toRecordId(userId: string, kind: RecordKind, source: string, key: string): string {
  return toUuid([kind, userId, source, key]);
}

function toUuid(naturalKey: readonly (string | number)[]): string {
  const digits = hash('sha256', JSON.stringify(naturalKey), 'hex');
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    digits.slice(12, 16),
    digits.slice(16, 20),
    digits.slice(20, 32),
  ].join('-');
}
