import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';

/** Formats an instant as RFC 3339 in UTC with milliseconds; null when absent. */
export function toInstant(time: Timestamp | undefined): string | null {
  return time === undefined ? null : timestampDate(time).toISOString();
}

/** Converts the empty string of internal messages to null. */
export function toNullable(text: string): string | null {
  return text === '' ? null : text;
}
