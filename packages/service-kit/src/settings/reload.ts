import { startPeriodic } from '../background.ts';
import { measureCertificates, type TlsFiles, toTlsFiles } from '../rpc/tls.ts';
import type { Logger } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { ConfigError, type SettingSource, sourceOf } from './config.ts';

const INTERVAL_MS = 10_000;

type TlsSettings = Parameters<typeof toTlsFiles>[0];

interface ReloadOptions {
  readonly metrics: Metrics;
  readonly log: Pick<Logger, 'info' | 'error'>;
  /** Milliseconds between two looks at the files. */
  readonly intervalMs?: number;
}

/** Receives the changed values of settings. Throws if they cannot be used. */
type Use<Name extends string> = (values: Readonly<Record<Name, string>>) => void;

/** The settings that a process reads again while it runs. */
export interface Reloads extends AsyncDisposable {
  /** TLS between services, always as last read; undefined without TLS. */
  readonly tls: TlsFiles | undefined;
  /** Hands over the settings when the file of one of them has changed. Settings that are not given as files never change. */
  watch<Name extends string>(names: readonly Name[], use: Use<Name>): void;
  /** Exports the end of a certificate; the function that it returns takes the renewed one. */
  measureCertificate(setting: string, pem: string): (pem: string) => void;
  /** Looks at the files now. */
  check(): void;
}

/**
 * Looks at the files of certain settings every few seconds: orchestrators replace them without a signal, and as links. Values that cannot
 * be used are logged once and counted at each look, and the earlier ones stay in use.
 */
export function openReloads(
  config: TlsSettings,
  { metrics, log, intervalMs = INTERVAL_MS }: ReloadOptions,
): Reloads {
  const failed = metrics.countFailures('reading changed settings');
  const source = sourceOf(config);
  const watches: Watch[] = [];
  const watch: Reloads['watch'] = (names, use) => {
    if (source !== undefined && names.some((name) => source.files.has(name))) {
      watches.push(new Watch(source, names, { use: use as Use<string>, failed, log }));
    }
  };
  const check = () => {
    for (const each of watches) each.check();
  };
  const measureCertificate = measureCertificates(metrics);
  const checking = startPeriodic(async () => check(), { intervalMs, onFailure: failed });
  return {
    tls: openTls(config, { watch, measureCertificate }),
    watch,
    measureCertificate,
    check,
    [Symbol.asyncDispose]: () => checking[Symbol.asyncDispose](),
  };
}

function openTls(
  config: TlsSettings,
  { watch, measureCertificate }: Pick<Reloads, 'watch' | 'measureCertificate'>,
): TlsFiles | undefined {
  const first = toTlsFiles(config);
  if (first === undefined) return undefined;
  let current = first;
  const listeners: (() => void)[] = [];
  const measure = measureCertificate('TLS_CERT', first.cert);
  watch(['TLS_CA', 'TLS_CERT', 'TLS_KEY'], (values) => {
    current = toTlsFiles({ ...config, ...values }) ?? first;
    measure(current.cert);
    for (const listener of listeners) listener();
  });
  return {
    get ca() {
      return current.ca;
    },
    get cert() {
      return current.cert;
    },
    get key() {
      return current.key;
    },
    onChange: (listener) => void listeners.push(listener),
  };
}

interface WatchParts {
  readonly use: Use<string>;
  readonly failed: () => void;
  readonly log: ReloadOptions['log'];
}

/** Settings that are used together. */
class Watch {
  readonly #source: SettingSource;
  readonly #names: readonly string[];
  readonly #parts: WatchParts;
  #used: string;
  /** What could not be used at the last look, and whether that is reported. */
  #refused: { readonly seen: string; isReported: boolean } | null = null;

  constructor(source: SettingSource, names: readonly string[], parts: WatchParts) {
    this.#source = source;
    this.#names = names.filter((name) => source.files.has(name));
    this.#parts = parts;
    this.#used = this.#fingerprint();
  }

  check(): void {
    const seen = this.#fingerprint();
    if (seen === this.#used) {
      this.#refused = null;
      return;
    }
    const settings = this.#names;
    try {
      this.#parts.use(Object.fromEntries(settings.map((name) => [name, this.#source.read(name) as string])));
    } catch (error) {
      this.#refuse(seen, error);
      return;
    }
    this.#used = seen;
    this.#refused = null;
    this.#parts.log.info({ settings }, 'settings reloaded');
  }

  /** At the first look, a file may be written in part, or before the one that belongs to it. */
  #refuse(seen: string, error: unknown): void {
    if (this.#refused?.seen !== seen) {
      this.#refused = { seen, isReported: false };
      return;
    }
    this.#parts.failed();
    if (this.#refused.isReported) return;
    this.#refused.isReported = true;
    const problems =
      error instanceof ConfigError
        ? error.problems
        : this.#names.map((setting) => ({ setting, reason: 'cannot be used' }));
    const listed = problems.map(({ setting, reason }) => `${setting}: ${reason}`).join('; ');
    this.#parts.log.error(
      { problems },
      `changed settings are not usable, the earlier ones stay in use: ${listed}`,
    );
  }

  #fingerprint(): string {
    return JSON.stringify(this.#names.map((name) => this.#source.text(name)));
  }
}
