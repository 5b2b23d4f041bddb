import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { ChannelCredentials, ServerCredentials } from '@grpc/grpc-js';
import { ConfigError } from '../settings/config.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/** PEM texts that enable mutual TLS between services. */
export interface TlsFiles {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** The TLS settings of a configuration. Throws a ConfigError unless all three or none are set and fit together. */
export function toTlsFiles(config: {
  readonly TLS_CA?: string | undefined;
  readonly TLS_CERT?: string | undefined;
  readonly TLS_KEY?: string | undefined;
}): TlsFiles | undefined {
  const { TLS_CA: ca, TLS_CERT: cert, TLS_KEY: key } = config;
  if (ca === undefined && cert === undefined && key === undefined) return undefined;
  if (ca === undefined || cert === undefined || key === undefined) {
    const missing = (['TLS_CA', 'TLS_CERT', 'TLS_KEY'] as const).filter((name) => config[name] === undefined);
    throw new ConfigError(
      missing.map((setting) => ({ setting, reason: 'must be set, because another TLS setting is' })),
    );
  }
  try {
    createSecureContext({ ca, cert, key });
  } catch (error) {
    const reason = `TLS_CA, TLS_CERT and TLS_KEY cannot be used together: ${(error as Error).message}`;
    throw new ConfigError([{ setting: 'TLS_CERT', reason }]);
  }
  return { ca, cert, key };
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Measures when the certificate ends that this process has read: a renewed file is in use only after a restart. */
export function measureCertificate(
  metrics: Metrics,
  { TLS_CERT = '' }: { readonly TLS_CERT?: string | undefined },
): void {
  const gauge = metrics.gauge({
    name: 'phds_certificate_expiry_timestamp_seconds',
    help: 'The end of the certificate in use, or of the one in its chain that ends first.',
    labels: ['setting'],
  });
  const ends = (TLS_CERT.match(CERTIFICATE) ?? []).flatMap((pem) => {
    try {
      return new X509Certificate(pem).validToDate.getTime();
    } catch {
      // `toTlsFiles` names the setting.
      return [];
    }
  });
  if (ends.length > 0) gauge.set({ setting: 'TLS_CERT' }, Math.min(...ends) / 1000);
}

export function serverCredentials(tls: TlsFiles | undefined): ServerCredentials {
  if (tls === undefined) return ServerCredentials.createInsecure();
  const pair = { cert_chain: Buffer.from(tls.cert), private_key: Buffer.from(tls.key) };
  return ServerCredentials.createSsl(Buffer.from(tls.ca), [pair], true);
}

export function channelCredentials(tls: TlsFiles | undefined): ChannelCredentials {
  if (tls === undefined) return ChannelCredentials.createInsecure();
  return ChannelCredentials.createSsl(Buffer.from(tls.ca), Buffer.from(tls.key), Buffer.from(tls.cert));
}
