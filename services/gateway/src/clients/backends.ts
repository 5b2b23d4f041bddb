import type { Client } from '@connectrpc/connect';
import { AppService } from '@phds/contracts/phds/authorization/v1/apps_pb';
import { AuthorizationService } from '@phds/contracts/phds/authorization/v1/authorization_pb';
import { TokenService } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { AccessService } from '@phds/contracts/phds/consent/v1/access_pb';
import { ConsentService } from '@phds/contracts/phds/consent/v1/consent_pb';
import { ReportService } from '@phds/contracts/phds/consent/v1/reports_pb';
import { SandboxService } from '@phds/contracts/phds/consent/v1/sandbox_pb';
import { SessionService } from '@phds/contracts/phds/consent/v1/sessions_pb';
import { WebhookService } from '@phds/contracts/phds/consent/v1/webhooks_pb';
import { HealthDataService, PreviewService } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { SandboxService as SandboxDataService } from '@phds/contracts/phds/healthdata/v1/sandbox_pb';
import type { Logger } from '@phds/service-kit/log';
import { openCallStreams } from '@phds/service-kit/rpc-call-streams';
import { openRpcChannel } from '@phds/service-kit/rpc-client';
import { toRpcChannelOptions } from '@phds/service-kit/service-options';
import type { Metrics } from '@phds/telemetry/metrics';
import type { Config } from '../config.ts';
import { createBatchedReads, type ReadData } from './batched-reads.ts';
import { createEndedSessions, type EndedSessions } from './ended-sessions.ts';

/** Typed clients of the three services behind the gateway. */
export interface Backends extends Disposable {
  readonly apps: Client<typeof AppService>;
  readonly authorization: Client<typeof AuthorizationService>;
  readonly tokens: Client<typeof TokenService>;
  readonly accesses: Client<typeof AccessService>;
  readonly consent: Client<typeof ConsentService>;
  readonly reports: Client<typeof ReportService>;
  readonly webhooks: Client<typeof WebhookService>;
  readonly endedSessions: EndedSessions;
  readonly readData: ReadData;
  readonly previews: Client<typeof PreviewService>;
  readonly sandboxGrants: Client<typeof SandboxService>;
  readonly sandboxData: Client<typeof SandboxDataService>;
}

/** For making a sandbox person's data, which takes longer than any read. */
const SANDBOX_DATA_DEADLINE_MS = 20_000;

/** Opens a channel to each service, which connects on first use, and the streams to health-data. */
export function openBackends(config: Config, log: Logger, metrics: Metrics): Backends {
  const options = toRpcChannelOptions(config, { service: 'gateway', metrics });
  const open = (audience: string, address: string, deadlineMs: number) =>
    openRpcChannel({ ...options, address, audience, deadlineMs });
  const authorization = open('authorization', config.AUTHORIZATION_ADDRESS, config.AUTHORIZATION_DEADLINE_MS);
  const consent = open('consent', config.CONSENT_ADDRESS, config.CONSENT_DEADLINE_MS);
  const healthData = open('health-data', config.HEALTH_DATA_ADDRESS, config.HEALTH_DATA_DEADLINE_MS);
  const sandboxData = open('health-data', config.HEALTH_DATA_ADDRESS, SANDBOX_DATA_DEADLINE_MS);
  const { read, reads } = HealthDataService.method;
  const streams = openCallStreams({
    ...options,
    address: config.HEALTH_DATA_ADDRESS,
    audience: 'health-data',
    method: reads,
    carried: read,
    onFailure: (err) => log.warn({ err }, 'no stream to health-data; reads are sent one by one'),
  });
  return {
    apps: authorization.client(AppService),
    authorization: authorization.client(AuthorizationService),
    tokens: authorization.client(TokenService),
    accesses: consent.client(AccessService),
    consent: consent.client(ConsentService),
    reports: consent.client(ReportService),
    webhooks: consent.client(WebhookService),
    endedSessions: createEndedSessions(consent.client(SessionService)),
    readData: createBatchedReads({
      healthData: healthData.client(HealthDataService),
      streams,
      deadlineMs: config.HEALTH_DATA_DEADLINE_MS,
    }),
    previews: healthData.client(PreviewService),
    sandboxGrants: consent.client(SandboxService),
    sandboxData: sandboxData.client(SandboxDataService),
    [Symbol.dispose]() {
      for (const channel of [authorization, consent, healthData, sandboxData, streams])
        channel[Symbol.dispose]();
    },
  };
}
