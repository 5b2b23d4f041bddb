import { AppService } from '@phds/contracts/phds/authorization/v1/apps_pb';
import { AuthorizationService } from '@phds/contracts/phds/authorization/v1/authorization_pb';
import { TokenService } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { AccessService } from '@phds/contracts/phds/consent/v1/access_pb';
import { ConsentService } from '@phds/contracts/phds/consent/v1/consent_pb';
import { OperatorActService } from '@phds/contracts/phds/consent/v1/operator_acts_pb';
import { SandboxService } from '@phds/contracts/phds/consent/v1/sandbox_pb';
import { SessionService } from '@phds/contracts/phds/consent/v1/sessions_pb';
import { WebhookService } from '@phds/contracts/phds/consent/v1/webhooks_pb';
import { HealthDataService, PreviewService } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { SandboxService as SandboxDataService } from '@phds/contracts/phds/healthdata/v1/sandbox_pb';
import { openRpcChannel, toRpcChannelOptions } from '@phds/service-kit/rpc/client';
import type { Reloads } from '@phds/service-kit/settings/reload';
import type { Metrics } from '@phds/service-kit/telemetry/metrics';
import type { Config } from '../config.ts';
import { createBatchedReads, createTokenCalls } from './batched-calls.ts';
import { createEndedSessions } from './ended-sessions.ts';

export type Backends = ReturnType<typeof openBackends>;

/** For making a person's data in a sandbox, which takes longer than any read. */
const SANDBOX_DATA_DEADLINE_MS = 20_000;

/** Typed clients of the three services behind the gateway. Opens a channel to each service, which connects on first use. */
export function openBackends(
  config: Config,
  { metrics, reloads }: { readonly metrics: Metrics; readonly reloads: Reloads },
) {
  using opened = new DisposableStack();
  const options = toRpcChannelOptions(config, { service: 'gateway', metrics, reloads });
  const connect = (audience: string, address: string, deadlineMs: number) => {
    return opened.use(openRpcChannel({ ...options, address, audience, deadlineMs }));
  };
  const authorization = connect(
    'authorization',
    config.AUTHORIZATION_ADDRESS,
    config.AUTHORIZATION_DEADLINE_MS,
  );
  const consent = connect('consent', config.CONSENT_ADDRESS, config.CONSENT_DEADLINE_MS);
  const healthData = connect('health-data', config.HEALTH_DATA_ADDRESS, config.HEALTH_DATA_DEADLINE_MS);
  const sandboxData = connect('health-data', config.HEALTH_DATA_ADDRESS, SANDBOX_DATA_DEADLINE_MS);
  const tokens = authorization.client(TokenService);
  const backends = {
    apps: authorization.client(AppService),
    authorization: authorization.client(AuthorizationService),
    tokens,
    tokenCalls: createTokenCalls(tokens, config.AUTHORIZATION_DEADLINE_MS),
    accesses: consent.client(AccessService),
    consent: consent.client(ConsentService),
    operatorActs: consent.client(OperatorActService),
    webhooks: consent.client(WebhookService),
    endedSessions: createEndedSessions(consent.client(SessionService)),
    readData: createBatchedReads(healthData.client(HealthDataService), config.HEALTH_DATA_DEADLINE_MS),
    previews: healthData.client(PreviewService),
    sandboxGrants: consent.client(SandboxService),
    sandboxData: sandboxData.client(SandboxDataService),
  };
  const owned = opened.move();
  return { ...backends, [Symbol.dispose]: () => owned.dispose() };
}
