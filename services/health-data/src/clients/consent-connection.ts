import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import { AccessService, Verdict as VerdictMessage } from '@phds/contracts/phds/consent/v1/access_pb';
import { EventService } from '@phds/contracts/phds/consent/v1/events_pb';
import { batchingCalls } from '@phds/service-kit/batcher';
import type { Clock } from '@phds/service-kit/clock';
import { AppError } from '@phds/service-kit/errors';
import { openRpcChannel } from '@phds/service-kit/rpc/client';
import { createOperatorRecordClient } from '@phds/service-kit/rpc/operator-acts';
import type { Reloads } from '@phds/service-kit/settings/reload';
import { toRpcChannelOptions } from '@phds/service-kit/settings/service-options';
import type { Metrics } from '@phds/service-kit/telemetry/metrics';
import type { ReportedChange } from '../change-reports.ts';
import type { Config } from '../config.ts';
import type { Access, AccessRecorder, Verdict } from '../release.ts';

export interface ConnectionContext {
  readonly service: string;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly reloads: Reloads;
}

/** Opens the channel to consent. */
export function connectConsent(config: Config, { service, clock, metrics, reloads }: ConnectionContext) {
  const options = {
    ...toRpcChannelOptions(config, { service, clock, metrics, reloads }),
    address: config.CONSENT_ADDRESS,
    audience: 'consent',
    deadlineMs: config.CONSENT_DEADLINE_MS,
  };
  const channel = openRpcChannel(options);
  return {
    accessLog: createRpcAccessLog(channel.client(AccessService)),
    report: createRpcChangeReports(channel.client(EventService)),
    operatorRecord: createOperatorRecordClient(channel),
    [Symbol.dispose]: () => channel[Symbol.dispose](),
  };
}

const VERDICTS: ReadonlyMap<VerdictMessage, Verdict> = new Map([
  [VerdictMessage.RELEASED, 'released'],
  [VerdictMessage.TOKEN_EXPIRED, 'token_expired'],
  [VerdictMessage.TOKEN_REVOKED, 'token_revoked'],
  [VerdictMessage.FAMILY_REVOKED, 'family_revoked'],
  [VerdictMessage.GRANT_REVOKED, 'grant_revoked'],
  [VerdictMessage.GRANT_EXPIRED, 'grant_expired'],
  [VerdictMessage.SCOPE_WITHDRAWN, 'scope_withdrawn'],
  [VerdictMessage.APP_NOT_ALIVE, 'app_not_alive'],
  [VerdictMessage.WINDOW_CHANGED, 'window_changed'],
  [VerdictMessage.RESTORE_UNCONFIRMED, 'restore_unconfirmed'],
]);

/** Records a batch and returns one verdict for each access, in order; null for an unusable one. */
export type SendAccesses = (accesses: readonly Access[]) => Promise<readonly (Verdict | null)[]>;

/** Lets consent record and judge a batch. One whose connection is lost may have been recorded, so it is not sent again. */
export function createRpcAccessLog(
  consent: Pick<Client<typeof AccessService>, 'recordAccess'>,
): SendAccesses {
  return async (accesses) => {
    const { verdicts } = await consent.recordAccess({ accesses: accesses.map(toAccessMessage) });
    return verdicts.map((verdict) => VERDICTS.get(verdict) ?? null);
  };
}

function toAccessMessage({ tokenHash, dataFrom, ...access }: Access) {
  return { ...access, tokenHash: Buffer.from(tokenHash, 'base64url'), dataFrom: dataFrom ?? '' };
}

/** A batch that consent has not answered after this many milliseconds no longer holds up the next one, which another replica gets. */
const SLOW_BATCH_MS = 100;

/**
 * Has accesses recorded and judged, in batches. One batch at a time performed better than two, because it needs fewer commits for the
 * same accesses. After a failed batch the next one is sent as usual, so it recovers by itself.
 */
export function openAccessRecorder(
  config: Pick<Config, 'ACCESS_BATCH_MAX' | 'ACCESS_QUEUE_MAX' | 'ACCESS_WAIT_MS'>,
  accessLog: SendAccesses,
): AccessRecorder {
  const record = batchingCalls(accessLog, {
    maxCost: config.ACCESS_BATCH_MAX,
    maxQueued: config.ACCESS_QUEUE_MAX,
    maxWaitMs: config.ACCESS_WAIT_MS,
    keyOf: ({ clientId }) => clientId,
    slowMs: SLOW_BATCH_MS,
  });
  return {
    async record(access) {
      const verdict = await record(access).catch((cause: unknown) => Promise.reject(notRecorded(cause)));
      if (verdict === null) throw notRecorded(new Error('unknown verdict'));
      return verdict;
    },
  };
}

function notRecorded(cause: unknown): AppError {
  const options = { cause, retryAfterSeconds: 1 };
  return new AppError('access_not_recorded', 'The access could not be recorded.', options);
}

/** Tells consent about changes, which announces them to apps. */
function createRpcChangeReports(consent: Pick<Client<typeof EventService>, 'reportDataChanges'>) {
  return async (changes: readonly ReportedChange[]): Promise<void> => {
    await consent.reportDataChanges({
      changes: changes.map(({ userId, category, at, latestReadingAt }) => ({
        userId,
        category,
        at: timestampFromDate(at),
        latestReadingAt: timestampFromDate(latestReadingAt),
      })),
    });
  };
}
