import { readFileSync } from 'node:fs';
import type { DescService } from '@bufbuild/protobuf';
import type { Client } from '@connectrpc/connect';
import { toKeyFiles } from '@phds/dev-stack/key-files';
import { findStackFile } from '@phds/dev-stack/stack-file';
import { address, durationMs, readConfig } from '@phds/service-kit/config';
import { openRpcChannel } from '@phds/service-kit/rpc-client';
import { toTlsFiles } from '@phds/service-kit/rpc-tls';
import { createServiceTokenSource } from '@phds/service-kit/service-token';
import { z } from 'zod';
import { checkPrivateKey, NotConfigured } from '../connection.ts';

/** Services that an operator calls, with the setting that holds the `host:port` of each one's rpc. */
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
  SERVICE_PRIVATE_KEY: z.string(),
  /** Deadline of one call: erasing a person with much data takes a while. */
  OPERATOR_DEADLINE_MS: durationMs(60_000),
  /** Files that switch TLS on, as for the services. */
  TLS_CA: z.string().optional(),
  TLS_CERT: z.string().optional(),
  TLS_KEY: z.string().optional(),
};

/**
 * Connects to these services as the environment names them, else to the local stack that runs in this checkout. Nothing is called
 * yet. Throws ConfigError when one of them has no address, NotConfigured when there is no stack.
 */
export function openOperator(
  env: NodeJS.ProcessEnv,
  services: readonly OperatedService[],
): OperatorConnection {
  const isNamed = services.some((service) => env[ADDRESSES[service]] !== undefined);
  const addresses = Object.fromEntries(services.map((service) => [ADDRESSES[service], address('')] as const));
  const settings = isNamed ? env : withLocalStack(env, services);
  const config = readConfig(z.object(SETTINGS), settings);
  const named = readConfig(z.object(addresses), settings);
  checkPrivateKey(config.SERVICE_PRIVATE_KEY);
  const tls = toTlsFiles(config);
  const resources = new DisposableStack();
  return {
    client(service, descriptor) {
      const channel = openRpcChannel({
        address: String(named[ADDRESSES[service]]),
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

/** The settings that the running local stack wrote down. */
function withLocalStack(env: NodeJS.ProcessEnv, services: readonly OperatedService[]): NodeJS.ProcessEnv {
  const stack = findStackFile();
  if (stack === null) {
    const names = services.map((service) => ADDRESSES[service]).join(', ');
    throw new NotConfigured(
      'No local stack is running. Start it with: npm start\n' +
        `To operate the service elsewhere, set ${names} (host:port) and SERVICE_PRIVATE_KEY_FILE.`,
    );
  }
  const { servicePrivateKeys } = toKeyFiles(stack.keys.directory);
  const addresses = services.map((service) => [ADDRESSES[service], stack.rpcAddresses[service]]);
  return {
    ...env,
    ...Object.fromEntries(addresses),
    SERVICE_PRIVATE_KEY: readFileSync(servicePrivateKeys.operator, 'utf8'),
    SERVICE_PRIVATE_KEY_FILE: '',
  };
}
