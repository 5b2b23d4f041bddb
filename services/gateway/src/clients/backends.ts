import type { Client } from '@connectrpc/connect';
import { AppService } from '@phds/contracts/phds/authorization/v1/apps_pb';
import { AuthorizationService } from '@phds/contracts/phds/authorization/v1/authorization_pb';
import { TokenService } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { AccessService } from '@phds/contracts/phds/consent/v1/access_pb';
import { ConsentService } from '@phds/contracts/phds/consent/v1/consent_pb';
import { HealthDataService, PreviewService } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { openRpcChannel } from '@phds/service-kit/rpc-client';
import { toRpcChannelOptions } from '@phds/service-kit/service-options';
import type { Config } from '../config.ts';

/** Typed clients of the three services behind the gateway. */
export interface Backends extends Disposable {
  readonly apps: Client<typeof AppService>;
  readonly authorization: Client<typeof AuthorizationService>;
  readonly tokens: Client<typeof TokenService>;
  readonly accesses: Client<typeof AccessService>;
  readonly consent: Client<typeof ConsentService>;
  readonly healthData: Client<typeof HealthDataService>;
  readonly previews: Client<typeof PreviewService>;
}

/** Opens a channel to each service. Channels connect on first use. */
export function openBackends(config: Config): Backends {
  const options = toRpcChannelOptions(config, { service: 'gateway' });
  const open = (audience: string, address: string, deadlineMs: number) =>
    openRpcChannel({ ...options, address, audience, deadlineMs });
  const authorization = open('authorization', config.AUTHORIZATION_ADDRESS, config.AUTHORIZATION_DEADLINE_MS);
  const consent = open('consent', config.CONSENT_ADDRESS, config.CONSENT_DEADLINE_MS);
  const healthData = open('health-data', config.HEALTH_DATA_ADDRESS, config.HEALTH_DATA_DEADLINE_MS);
  return {
    apps: authorization.client(AppService),
    authorization: authorization.client(AuthorizationService),
    tokens: authorization.client(TokenService),
    accesses: consent.client(AccessService),
    consent: consent.client(ConsentService),
    healthData: healthData.client(HealthDataService),
    previews: healthData.client(PreviewService),
    [Symbol.dispose]() {
      for (const channel of [authorization, consent, healthData]) channel[Symbol.dispose]();
    },
  };
}
