import { ChannelCredentials, ServerCredentials } from '@grpc/grpc-js';

/** PEM texts that enable mutual TLS between services. */
export interface TlsFiles {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** The TLS settings of a configuration; all three or none must be set. */
export function toTlsFiles(config: {
  readonly TLS_CA?: string | undefined;
  readonly TLS_CERT?: string | undefined;
  readonly TLS_KEY?: string | undefined;
}): TlsFiles | undefined {
  const { TLS_CA: ca, TLS_CERT: cert, TLS_KEY: key } = config;
  if (ca === undefined && cert === undefined && key === undefined) return undefined;
  if (ca === undefined || cert === undefined || key === undefined) {
    throw new Error('TLS_CA, TLS_CERT and TLS_KEY must be set together');
  }
  return { ca, cert, key };
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
