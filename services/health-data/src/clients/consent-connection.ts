import { AccessService } from '@phds/contracts/phds/consent/v1/access_pb';
import { EventService } from '@phds/contracts/phds/consent/v1/events_pb';
import type { Clock } from '@phds/service-kit/clock';
import { withoutDeadline } from '@phds/service-kit/deadline';
import type { Logger } from '@phds/service-kit/log';
import { openCallStreams } from '@phds/service-kit/rpc-call-streams';
import { openRpcChannel } from '@phds/service-kit/rpc-client';
import { toRpcChannelOptions } from '@phds/service-kit/service-options';
import type { Metrics } from '@phds/telemetry/metrics';
import type { AccessRecorder } from '../app/ports.ts';
import type { Config } from '../config.ts';
import { createBatchingAccessRecorder, type SendAccesses } from './batching-access-recorder.ts';
import { createRpcAccessLog } from './rpc-access-log.ts';
import { createRpcChangeReports } from './rpc-change-reports.ts';

export interface ConnectionContext {
  readonly service: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Opens the connections to consent: to its rpcs, and a stream of accesses to each replica. */
export function connectConsent(config: Config, { service, clock, log, metrics }: ConnectionContext) {
  const options = {
    ...toRpcChannelOptions(config, { service, clock, metrics }),
    address: config.CONSENT_ADDRESS,
    audience: 'consent',
    deadlineMs: config.CONSENT_DEADLINE_MS,
  };
  const channel = openRpcChannel(options);
  const { recordAccess, recordAccesses } = AccessService.method;
  const streams = openCallStreams({
    ...options,
    method: recordAccesses,
    carried: recordAccess,
    onFailure: (err) => log.warn({ err }, 'no stream to consent; accesses are sent by unary calls'),
  });
  return {
    accessLog: createRpcAccessLog({
      consent: channel.client(AccessService),
      streams,
      deadlineMs: config.CONSENT_DEADLINE_MS,
    }),
    report: createRpcChangeReports(channel.client(EventService)),
    [Symbol.dispose]() {
      for (const connection of [streams, channel]) connection[Symbol.dispose]();
    },
  };
}

/** Has accesses recorded and judged, in batches. */
export function openAccessRecorder(config: Config, accessLog: SendAccesses): AccessRecorder {
  const recorder = createBatchingAccessRecorder(accessLog, {
    maxBatch: config.ACCESS_BATCH_MAX,
    maxQueue: config.ACCESS_QUEUE_MAX,
    maxWaitMs: config.ACCESS_WAIT_MS,
  });
  // A batch contains the accesses of many calls, so none of them may end it.
  return { record: (access) => withoutDeadline(() => recorder.record(access)) };
}
