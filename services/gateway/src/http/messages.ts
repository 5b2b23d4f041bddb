import { isMessage } from '@bufbuild/protobuf';
import { type Timestamp, TimestampSchema, timestampDate } from '@bufbuild/protobuf/wkt';
import {
  APP_LOCK_KINDS,
  APP_STATUSES,
  GRANT_STATUSES,
  PENDING_STATUSES,
  REFUSAL_REASONS,
  type RefusalReason,
} from '@phds/catalog/wire-names';
import { Verdict } from '@phds/contracts/phds/consent/v1/access_pb';
import { PendingStatus } from '@phds/contracts/phds/consent/v1/consent_pb';
import { AppLockKind, AppStatus, GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { AppError } from '@phds/service-kit/errors';
import { z } from 'zod';

/**
 * An object of an answer: what its schema has of a message, or of values with the same names. Instants become RFC 3339 in UTC with
 * milliseconds. An empty text is null where the schema allows it, and what is absent is null unless it is optional. Enums are not
 * converted: `{ ...app, status: appStatusName(app.status) }`.
 */
export function toJson<Schema extends z.ZodObject, Values extends object>(
  schema: Schema,
  // Nothing that the schema names may be missing.
  values: Values & Record<Exclude<keyof z.infer<Schema>, keyof Values>, never>,
): z.infer<Schema> {
  return toJsonObject(schema, values) as z.infer<Schema>;
}

function toJsonObject(schema: z.ZodObject, values: object): object {
  const fields = Object.entries<z.ZodType>(schema.shape);
  const json = fields.map(([name, field]) => [name, toJsonField(field, Reflect.get(values, name))] as const);
  return Object.fromEntries(json.filter(([, value]) => value !== undefined));
}

function toJsonField(field: z.ZodType, value: unknown): unknown {
  if (value === undefined) return field.isOptional() ? undefined : null;
  if (value === '') return field.isNullable() ? null : '';
  if (isMessage(value, TimestampSchema)) return toInstant(value);
  const inner = withoutAbsence(field);
  if (inner instanceof z.ZodArray && Array.isArray(value)) {
    return value.map((item) => toJsonField(inner.element as z.ZodType, item));
  }
  // An object with members that the schema does not name is written as it is.
  const isClosed = inner instanceof z.ZodObject && inner.def.catchall === undefined;
  return isClosed && typeof value === 'object' && value !== null ? toJsonObject(inner, value) : value;
}

function withoutAbsence(field: z.ZodType): z.ZodType {
  const mayBeAbsent = field instanceof z.ZodOptional || field instanceof z.ZodNullable;
  return mayBeAbsent ? withoutAbsence(field.unwrap() as z.ZodType) : field;
}

/** Formats an instant as RFC 3339 in UTC with milliseconds; null when absent. */
export function toInstant(time: Timestamp | undefined): string | null {
  return time === undefined ? null : timestampDate(time).toISOString();
}

/** Converts the empty string of internal messages to null. */
export function toNullable(text: string): string | null {
  return text === '' ? null : text;
}

/** Returns a message field that the response must have; throws `internal` when it is absent. */
export function required<T>(message: T | undefined): T {
  if (message === undefined) throw new AppError('internal', '', { cause: 'answer without its content' });
  return message;
}

/** Why an access was refused, by its public name; null when it was released, and for a verdict that this gateway does not know. */
export function refusalReason(verdict: Verdict): RefusalReason | null {
  return REFUSAL_REASONS.find((name) => Verdict[name] === verdict) ?? null;
}

/** Public names of statuses are those of the messages, in lower case. */
const nameOf =
  <Name extends string>(values: Readonly<Record<Uppercase<Name>, number>>, names: readonly Name[]) =>
  (value: number): Name => {
    const name = names.find((candidate) => values[toUpperCase(candidate)] === value);
    if (name === undefined) throw new RangeError('a status without a public name');
    return name;
  };

function toUpperCase<Name extends string>(name: Name): Uppercase<Name> {
  return name.toUpperCase() as Uppercase<Name>;
}

export const toAppStatus = (name: (typeof APP_STATUSES)[number]) => AppStatus[toUpperCase(name)];
export const toGrantStatus = (name: (typeof GRANT_STATUSES)[number]) => GrantStatus[toUpperCase(name)];
export const toPendingStatus = (name: (typeof PENDING_STATUSES)[number]) => PendingStatus[toUpperCase(name)];
export const appStatusName = nameOf(AppStatus, APP_STATUSES);
export const appLockKindName = nameOf(AppLockKind, APP_LOCK_KINDS);
export const grantStatusName = nameOf(GrantStatus, GRANT_STATUSES);
export const pendingStatusName = nameOf(PendingStatus, PENDING_STATUSES);
