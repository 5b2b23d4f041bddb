import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
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
