import { createPrivateKey } from 'node:crypto';
import type { Client } from '@connectrpc/connect';
import { IngestionService } from '@phds/contracts/phds/healthdata/v1/ingestion_pb';
import { durationMs, readConfig, requiredAddress } from '@phds/service-kit/config';
import { openRpcChannel } from '@phds/service-kit/rpc-client';
import { toTlsFiles } from '@phds/service-kit/rpc-tls';
import { createServiceTokenSource } from '@phds/service-kit/service-token';
import { z } from 'zod';

/** health-data's ingestion rpc, called as `importer`. */
export interface IngestionConnection extends Disposable {
  readonly client: Client<typeof IngestionService>;
  /** `host:port`, for messages. */
  readonly address: string;
}

/** Thrown for an unusable setting; the message names it. */
export class NotConfigured extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'NotConfigured';
  }
}

const SETTINGS = z.object({
  /** health-data's rpc. */
  HEALTH_DATA_ADDRESS: requiredAddress(),
  /** Private key of the caller `importer` (Ed25519, PKCS #8 PEM); also as SERVICE_PRIVATE_KEY_FILE. */
  SERVICE_PRIVATE_KEY: z.string('must be set'),
  /** Deadline of one batch. */
  IMPORT_BATCH_DEADLINE_MS: durationMs(30_000),
  /** TLS files, as for the services. */
  TLS_CA: z.string().optional(),
  TLS_CERT: z.string().optional(),
  TLS_KEY: z.string().optional(),
});

/** Connects to the service configured in the environment. Throws a ConfigError that names missing settings. */
export function openIngestion(env: NodeJS.ProcessEnv): IngestionConnection {
  const config = readConfig(SETTINGS, env);
  checkPrivateKey(config.SERVICE_PRIVATE_KEY);
  const tls = toTlsFiles(config);
  const channel = openRpcChannel({
    address: config.HEALTH_DATA_ADDRESS,
    audience: 'health-data',
    tokens: createServiceTokenSource({ service: 'importer', privateKeyPem: config.SERVICE_PRIVATE_KEY }),
    deadlineMs: config.IMPORT_BATCH_DEADLINE_MS,
    ...(tls === undefined ? {} : { tls }),
  });
  return {
    client: channel.client(IngestionService),
    address: config.HEALTH_DATA_ADDRESS,
    [Symbol.dispose]: () => channel[Symbol.dispose](),
  };
}

/** Fails here, naming the setting, instead of at the first call. */
export function checkPrivateKey(pem: string): void {
  try {
    if (createPrivateKey(pem).asymmetricKeyType === 'ed25519') return;
  } catch {
    // Not a private key at all gets the same message.
  }
  throw new NotConfigured('SERVICE_PRIVATE_KEY is not an Ed25519 private key (PKCS #8 PEM).');
}
