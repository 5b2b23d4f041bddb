import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';

/** An instant on the wire: RFC 3339, UTC, milliseconds; null when there is none (contract section 1). */
export function toInstant(time: Timestamp | undefined): string | null {
  return time === undefined ? null : timestampDate(time).toISOString();
}

/** A text that is null on the public interface when it is empty inside. */
export function toNullable(text: string): string | null {
  return text === '' ? null : text;
}
