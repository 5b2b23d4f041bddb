import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';
import type {
  AppProfileSchema,
  GrantFacts as WireGrantFacts,
} from '@phds/contracts/phds/consent/v1/ledger_pb';
import {
  AppStatus as WireAppStatus,
  GrantStatus as WireGrantStatus,
} from '@phds/contracts/phds/consent/v1/ledger_pb';
import { AppError } from '@phds/service-kit/errors';
import type { AppProfile } from '../app/ports.ts';
import type { AppStatus } from '../domain/app.ts';
import type { GrantFacts, GrantStatus } from '../domain/liveness.ts';

const APP_STATUS: Readonly<Record<AppStatus, WireAppStatus>> = {
  active: WireAppStatus.ACTIVE,
  suspended: WireAppStatus.SUSPENDED,
  revoked: WireAppStatus.REVOKED,
};

const GRANT_STATUS: Readonly<Record<GrantStatus, WireGrantStatus>> = {
  active: WireGrantStatus.ACTIVE,
  expired: WireGrantStatus.EXPIRED,
  revoked: WireGrantStatus.REVOKED,
};

export function toWireAppStatus(status: AppStatus): WireAppStatus {
  return APP_STATUS[status];
}

/** The status, or null for a number that names none. */
export function findAppStatus(wire: WireAppStatus): AppStatus | null {
  return findKey(APP_STATUS, wire);
}

export function toWireGrantStatus(status: GrantStatus): WireGrantStatus {
  return GRANT_STATUS[status];
}

export function fromWireAppStatus(wire: WireAppStatus): AppStatus {
  return findAppStatus(wire) ?? refuse('app status');
}

export function fromWireGrantStatus(wire: WireGrantStatus): GrantStatus {
  return findKey(GRANT_STATUS, wire) ?? refuse('grant status');
}

export function toWireProfile(app: AppProfile): MessageInitShape<typeof AppProfileSchema> {
  const { clientId, name, ownerId, homepageUrl, privacyPolicyUrl, logoUrl, updatedAt } = app;
  return {
    clientId,
    name,
    ownerId,
    homepageUrl,
    privacyPolicyUrl,
    logoUrl,
    updatedAt: timestampFromDate(updatedAt),
  };
}

/** A time that has to be there. */
export function fromWireTime(time: Timestamp | undefined): Date {
  return time === undefined ? refuse('time') : timestampDate(time);
}

export function fromWireGrant(grant: WireGrantFacts): GrantFacts {
  return {
    status: fromWireGrantStatus(grant.status),
    scopes: grant.scopes,
    expiresAt: fromWireTime(grant.expiresAt),
    userId: grant.userId,
    dataFrom: grant.dataFrom === '' ? null : grant.dataFrom,
  };
}

function findKey<Key extends string, Value>(table: Readonly<Record<Key, Value>>, value: Value): Key | null {
  const entry = (Object.entries(table) as [Key, Value][]).find(([, candidate]) => candidate === value);
  return entry?.[0] ?? null;
}

/** An answer that breaks the contract is a fault, not something to guess about. */
function refuse(what: string): never {
  throw new AppError('internal', '', { cause: `the consent service sent no usable ${what}` });
}
