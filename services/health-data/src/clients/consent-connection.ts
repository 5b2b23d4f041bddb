import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { AccessService, type Verdict } from '@phds/contracts/phds/consent/v1/access_pb';
import { EventService } from '@phds/contracts/phds/consent/v1/events_pb';
import { batchingCalls } from '@phds/service-kit/batcher';
import type { Clock } from '@phds/service-kit/clock';
import { openRpcChannel, toRpcChannelOptions } from '@phds/service-kit/rpc/client';
import { createOperatorRecordClient } from '@phds/service-kit/rpc/operator-acts';
import type { Reloads } from '@phds/service-kit/settings/reload';
import type { Metrics } from '@phds/service-kit/telemetry/metrics';
import type { ReportedChange } from '../change-reports.ts';
import type { Config } from '../config.ts';
import { type Access, notRecorded, type RecordAccess } from '../release.ts';

/** Records a batch and returns one verdict for each access, in order. One whose connection is lost may have been recorded, so it is not sent again. */
export type SendAccesses = (accesses: readonly Access[]) => Promise<readonly Verdict[]>;

interface ConnectionContext {
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
  const accesses = channel.client(AccessService);
  const events = channel.client(EventService);
  const sendAccesses: SendAccesses = async (batch) =>
    (await accesses.recordAccess({ accesses: [...batch] })).verdicts;
  return {
    sendAccesses,
    /** Tells consent about changes, which announces them to apps. */
    async report(changes: readonly ReportedChange[]): Promise<void> {
      await events.reportDataChanges({
        changes: changes.map(({ userId, category, at, latestReadingAt }) => ({
          userId,
          category,
          at: timestampFromDate(at),
          latestReadingAt: timestampFromDate(latestReadingAt),
        })),
      });
    },
    operatorRecord: createOperatorRecordClient(channel),
    [Symbol.dispose]: () => channel[Symbol.dispose](),
  };
}

/** The most that consent accepts in one call. */
const MAX_ACCESSES = 500;
/** Answers that wait for their access record; more are refused. */
const MAX_WAITING_ACCESSES = 2_000;

/** A batch that consent has not answered after this many milliseconds no longer holds up the next one, which another replica gets. */
const SLOW_BATCH_MS = 100;

/**
 * Has accesses recorded and judged, in batches. One batch at a time performed better than two, because it needs fewer commits for the
 * same accesses. After a failed batch the next one is sent as usual, so it recovers by itself.
 */
export function openAccessRecorder(
  { ACCESS_WAIT_MS: maxWaitMs }: Config,
  sendAccesses: SendAccesses,
): RecordAccess {
  const record = batchingCalls(sendAccesses, {
    maxCost: MAX_ACCESSES,
    maxQueued: MAX_WAITING_ACCESSES,
    maxWaitMs,
    keyOf: ({ clientId }) => clientId,
    slowMs: SLOW_BATCH_MS,
  });
  return (access) => record(access).catch((cause: unknown) => Promise.reject(notRecorded(cause)));
}
