import type { DescService } from '@bufbuild/protobuf';
import type { Client } from '@connectrpc/connect';
import { openRpcChannel } from '@phds/service-kit/rpc/client';
import { toTlsFiles } from '@phds/service-kit/rpc/tls';
import { durationMs, privateKey, readConfig, requiredAddress } from '@phds/service-kit/settings/config';
import { tlsSettings } from '@phds/service-kit/settings/settings';
import { createServiceTokenSource } from '@phds/service-kit/trust/service-token';
import { z } from 'zod';
import { checkPrivateKey } from '../connection.ts';

/** The services that operators call, with the setting for the `host:port` of each service's rpc. */
const ADDRESSES = {
  authorization: 'AUTHORIZATION_ADDRESS',
  consent: 'CONSENT_ADDRESS',
  'health-data': 'HEALTH_DATA_ADDRESS',
} as const;

export type OperatedService = keyof typeof ADDRESSES;

/** Services, called as `operator`. */
export interface OperatorConnection extends Disposable {
  client<Service extends DescService>(service: OperatedService, descriptor: Service): Client<Service>;
}

const callerSettings = {
  SERVICE_PRIVATE_KEY: privateKey('must be set').describe('Private key of the caller `operator`.'),
  OPERATOR_DEADLINE_MS: durationMs(60_000).describe(
    'Maximum duration of one call. Erasing a person with much data takes a while.',
  ),
  ...tlsSettings,
};

/** The settings of the commands that call these services. */
export function operatorSettings(services: readonly OperatedService[]) {
  const addresses = services.map(
    (service) => [ADDRESSES[service], requiredAddress().describe(`gRPC port of ${service}.`)] as const,
  );
  return z.object<Settings>({ ...callerSettings, ...(Object.fromEntries(addresses) as Addresses) });
}

type Addresses = Record<(typeof ADDRESSES)[OperatedService], ReturnType<typeof requiredAddress>>;
type Settings = typeof callerSettings & Addresses;

/**
 * Opens connections to these services as configured in the environment, without calling them. Throws a ConfigError that names
 * missing settings.
 */
export function openOperator(
  env: NodeJS.ProcessEnv,
  services: readonly OperatedService[],
): OperatorConnection {
  const config = readConfig(operatorSettings(services), env);
  checkPrivateKey(config.SERVICE_PRIVATE_KEY);
  const tls = toTlsFiles(config);
  const resources = new DisposableStack();
  return {
    client(service, descriptor) {
      const channel = openRpcChannel({
        address: config[ADDRESSES[service]],
        audience: service,
        tokens: createServiceTokenSource({ service: 'operator', privateKeyPem: config.SERVICE_PRIVATE_KEY }),
        deadlineMs: config.OPERATOR_DEADLINE_MS,
        ...(tls === undefined ? {} : { tls }),
      });
      return resources.use(channel).client(descriptor);
    },
    [Symbol.dispose]: () => resources.dispose(),
  };
}
