import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { ChannelCredentials, ServerCredentials } from '@grpc/grpc-js';
import { ConfigError } from '../settings/config.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/** PEM texts that enable mutual TLS between services. */
export interface TlsFiles {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  /** Calls the listener whenever the texts have changed. Absent if they never do. */
  readonly onChange?: (listener: () => void) => void;
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
  requirePair('TLS_CERT', { ca, cert, key }, 'TLS_CA, TLS_CERT and TLS_KEY');
  return { ca, cert, key };
}

/** Throws a ConfigError about a setting unless these texts are PEM and fit together. */
export function requirePair(setting: string, pair: TlsPair, names: string): void {
  try {
    createSecureContext(pair);
    // OpenSSL keeps a pair for each kind of key, so it accepts an RSA key beside the certificate of an EC key.
    const certificate = new X509Certificate(pair.cert);
    if (!certificate.checkPrivateKey(createPrivateKey(pair.key)))
      throw new Error('the key is not that of the certificate');
  } catch (error) {
    const reason = `${names} cannot be used together: ${(error as Error).message}`;
    throw new ConfigError([{ setting, reason }]);
  }
}

interface TlsPair extends SecureContextOptions {
  readonly cert: string;
  readonly key: string;
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * Exports when certificates end. The result takes the name of a setting and its certificate, and returns what takes the certificate that
 * replaces it.
 */
export function measureCertificates(
  metrics: Metrics,
): (setting: string, pem: string) => (pem: string) => void {
  const gauge = metrics.gauge({
    name: 'phds_certificate_expiry_timestamp_seconds',
    help: 'The end of the certificate in use, or of the one in its chain that ends first.',
    labels: ['setting'],
  });
  return (setting, first) => {
    const measure = (pem: string) => {
      const ends = (pem.match(CERTIFICATE) ?? []).map((text) =>
        new X509Certificate(text).validToDate.getTime(),
      );
      gauge.set({ setting }, Math.min(...ends) / 1000);
    };
    measure(first);
    return measure;
  };
}

export function serverCredentials(tls: TlsFiles | undefined): ServerCredentials {
  return tls === undefined ? ServerCredentials.createInsecure() : new CurrentServerCredentials(tls);
}

export function channelCredentials(tls: TlsFiles | undefined): ChannelCredentials {
  return tls === undefined ? ChannelCredentials.createInsecure() : new CurrentChannelCredentials(tls);
}

const toContext = ({ ca, cert, key }: TlsFiles) => ({ ca, cert: [cert], key: [key] });

/** New connections get the present certificate; open ones keep the one that they have begun with. */
class CurrentServerCredentials extends ServerCredentials {
  constructor(tls: TlsFiles) {
    super({ requestCert: true }, toContext(tls));
    tls.onChange?.(() => this.updateSecureContextOptions(toContext(tls)));
  }

  override _equals(other: ServerCredentials): boolean {
    return this === other;
  }
}

type Connector = ReturnType<ChannelCredentials['_createSecureConnector']>;

/** A new connection is made with the present certificate. */
class CurrentChannelCredentials extends ChannelCredentials {
  readonly #tls: TlsFiles;

  constructor(tls: TlsFiles) {
    super();
    this.#tls = tls;
  }

  override _isSecure(): boolean {
    return true;
  }

  override _equals(other: ChannelCredentials): boolean {
    return this === other;
  }

  override _createSecureConnector(
    ...to: Parameters<ChannelCredentials['_createSecureConnector']>
  ): Connector {
    const connector = () => {
      const { ca, key, cert } = this.#tls;
      const [authorities, ...own] = [ca, key, cert].map((text) => Buffer.from(text));
      return ChannelCredentials.createSsl(authorities, ...own)._createSecureConnector(...to);
    };
    const { waitForReady, getCallCredentials } = ChannelCredentials.createInsecure()._createSecureConnector(
      ...to,
    );
    return {
      connect: (socket) => connector().connect(socket),
      waitForReady,
      getCallCredentials,
      destroy: () => undefined,
    };
  }
}
