import type { DescService } from '@bufbuild/protobuf';
import type { Client } from '@connectrpc/connect';
import { durationMs, readConfig, requiredAddress } from '@phds/service-kit/config';
import { openRpcChannel } from '@phds/service-kit/rpc-client';
import { toTlsFiles } from '@phds/service-kit/rpc-tls';
import { createServiceTokenSource } from '@phds/service-kit/service-token';
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

const SETTINGS = {
  /** Private key of the caller `operator` (Ed25519, PKCS #8 PEM); also as SERVICE_PRIVATE_KEY_FILE. */
  SERVICE_PRIVATE_KEY: z.string('must be set'),
  /** Deadline of one call. Erasing a person with much data takes a while. */
  OPERATOR_DEADLINE_MS: durationMs(60_000),
  /** TLS files, as for the services. */
  TLS_CA: z.string().optional(),
  TLS_CERT: z.string().optional(),
  TLS_KEY: z.string().optional(),
};

type Addresses = Record<(typeof ADDRESSES)[OperatedService], ReturnType<typeof requiredAddress>>;
type Settings = typeof SETTINGS & Addresses;

/**
 * Opens connections to these services as configured in the environment, without calling them. Throws a ConfigError that names
 * missing settings.
 */
export function openOperator(
  env: NodeJS.ProcessEnv,
  services: readonly OperatedService[],
): OperatorConnection {
  const addresses = Object.fromEntries(services.map((service) => [ADDRESSES[service], requiredAddress()]));
  const config = readConfig(z.object<Settings>({ ...SETTINGS, ...(addresses as Addresses) }), env);
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
