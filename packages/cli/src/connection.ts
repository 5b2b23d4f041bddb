import type { Client } from '@connectrpc/connect';
import { IngestionService } from '@phds/contracts/phds/healthdata/v1/ingestion_pb';
import { openRpcChannel } from '@phds/service-kit/rpc/client';
import { toTlsFiles } from '@phds/service-kit/rpc/tls';
import { privateKey, readConfig, requiredAddress } from '@phds/service-kit/settings/config';
import { tlsSettings } from '@phds/service-kit/settings/settings';
import { CALLER_NAME, createServiceTokenSource, toServiceCaller } from '@phds/service-kit/trust/callers';
import { z } from 'zod';

/** health-data's ingestion rpc, called as a service with the role `ingest`. */
export interface IngestionConnection extends Disposable {
  readonly client: Client<typeof IngestionService>;
}

/** Thrown for records that cannot be worked with as asked; the message says why. */
export class NotConfigured extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'NotConfigured';
  }
}

const BATCH_DEADLINE_MS = 30_000;

/** The settings of `phds import` and `phds imports`. */
export const importerSettings = z.object({
  HEALTH_DATA_ADDRESS: requiredAddress().describe('gRPC port of health-data.'),
  SERVICE_NAME: z
    .string()
    .regex(CALLER_NAME, 'must be the name of a service, in lower case')
    .default('importer')
    .meta({ unit: 'name' })
    .describe('The caller: `kid` of the key, without `service:`.'),
  SERVICE_PRIVATE_KEY: privateKey('must be set').describe("The caller's key."),
  ...tlsSettings,
});

/** Connects to the service configured in the environment. Throws a ConfigError that names missing settings. */
export function openIngestion(env: NodeJS.ProcessEnv): IngestionConnection {
  const config = readConfig(importerSettings, env);
  const open = openChannelsAs(toServiceCaller(config.SERVICE_NAME), config);
  const place = {
    address: config.HEALTH_DATA_ADDRESS,
    audience: 'health-data',
    deadlineMs: BATCH_DEADLINE_MS,
  };
  const channel = open(place);
  return {
    client: channel.client(IngestionService),
    [Symbol.dispose]: () => channel[Symbol.dispose](),
  };
}

/** What opens the channels of a caller. */
export function openChannelsAs(
  caller: string,
  config: { readonly SERVICE_PRIVATE_KEY: string } & Parameters<typeof toTlsFiles>[0],
) {
  const tls = toTlsFiles(config);
  const tokens = createServiceTokenSource({ service: caller, privateKeyPem: config.SERVICE_PRIVATE_KEY });
  return (
    place: Pick<Parameters<typeof openRpcChannel>[0], 'address' | 'audience' | 'deadlineMs' | 'metadata'>,
  ) => openRpcChannel({ ...place, tokens, ...(tls === undefined ? {} : { tls }) });
}
