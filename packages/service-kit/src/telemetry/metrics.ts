import { readFileSync } from 'node:fs';
import type { DescMethod } from '@bufbuild/protobuf';
import {
  type CollectFunction,
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  prometheusContentType,
  Registry,
} from 'prom-client';
import { type RpcCode, type RpcObserver, toRpcName } from '../rpc/errors.ts';

/** A metric without its values. Labels never contain an id of a person, an app, a token or a request, nor a health value. */
interface MetricDeclaration<Label extends string = never> {
  /** `phds_…`, with the unit, and with `_total` for counters. */
  readonly name: string;
  /** What the metric tells, in one line. */
  readonly help: string;
  /** Names of the labels. Each has a small, fixed set of values. */
  readonly labels?: readonly Label[];
}

/** A value and its labels. */
type Labelled<Label extends string> = readonly [Readonly<Partial<Record<Label, string>>>, number];

/** Upper bounds of durations in seconds: from a cached answer to the longest deadline. */
const DURATION_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Upper bounds of the sizes of batches. */
export const SIZE_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

interface MetricsOptions {
  /** Name of the service. */
  readonly service: string;
  /**
   * Whether to add the metrics of the process (`process_*`, `nodejs_*`). They observe the process until it ends, so only a program that
   * runs one service asks for them.
   */
  readonly ofProcess?: boolean;
}

/** All packages of the workspace have one version. */
export const { version: VERSION } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as { readonly version: string };

/** The metrics of one instance of a service, in a registry of their own: several instances may run in one process. */
export class Metrics {
  readonly contentType = prometheusContentType;
  readonly #metrics = new Registry();
  readonly #failures: Counter<'task'>;

  constructor({ service, ofProcess = false }: MetricsOptions) {
    if (ofProcess) collectDefaultMetrics({ register: this.#metrics });
    this.gauge({
      name: 'phds_build_info',
      help: 'Always 1; the labels name the service and its version.',
      labels: ['service', 'version'],
    }).set({ service, version: VERSION }, 1);
    this.#failures = this.counter({
      name: 'phds_background_failures_total',
      help: 'Failed runs of periodic and background tasks.',
      labels: ['task'],
    });
  }

  counter<Label extends string = never>(declaration: MetricDeclaration<Label>): Counter<Label> {
    return new Counter({ ...this.#toOptions(declaration) });
  }

  gauge<Label extends string = never>(declaration: MetricDeclaration<Label>): Gauge<Label> {
    return new Gauge({ ...this.#toOptions(declaration) });
  }

  histogram<Label extends string = never>(
    declaration: MetricDeclaration<Label>,
    buckets: readonly number[] = DURATION_BUCKETS,
  ): Histogram<Label> {
    return new Histogram({ ...this.#toOptions(declaration), buckets: [...buckets] });
  }

  /** A gauge that `read` gives at each scrape, from memory. */
  readGauge(declaration: MetricDeclaration, read: () => number | Promise<number>): void {
    const collect: CollectFunction<Gauge> = async function () {
      this.set(await read());
    };
    new Gauge({ ...this.#toOptions(declaration), collect });
  }

  /** Gauges that `read` gives at each scrape, from memory: all values, each with its labels. */
  readGauges<Label extends string>(
    declaration: MetricDeclaration<Label>,
    read: () => readonly Labelled<Label>[],
  ): void {
    const collect: CollectFunction<Gauge<Label>> = function () {
      for (const [labels, value] of read()) this.set(labels, value);
    };
    new Gauge({ ...this.#toOptions(declaration), collect });
  }

  /** A counter that `read` gives at each scrape, from memory. Where it counts, it costs no more than a number. */
  readCounter(declaration: MetricDeclaration, read: () => number): void {
    this.readCounters(declaration, () => [[{}, read()]]);
  }

  /** Counters that `read` gives at each scrape, from memory: all values, each with its labels. */
  readCounters<Label extends string>(
    declaration: MetricDeclaration<Label>,
    read: () => readonly Labelled<Label>[],
  ): void {
    const collect: CollectFunction<Counter<Label>> = function () {
      this.reset();
      for (const [labels, value] of read()) this.inc(labels, value);
    };
    new Counter({ ...this.#toOptions(declaration), collect });
  }

  /** Counts the failures of a background task, from 0. */
  countFailures(task: string): () => void {
    this.#failures.inc({ task }, 0);
    return () => this.#failures.inc({ task });
  }

  /** The values of all metrics in Prometheus's text format. */
  text(): Promise<string> {
    return this.#metrics.metrics();
  }

  #toOptions<Label extends string>({ name, help, labels = [] }: MetricDeclaration<Label>) {
    return { name, help, labelNames: [...labels], registers: [this.#metrics] };
  }
}

/** A pool of `pg`. */
interface MeasuredPool {
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
  readonly options: { readonly max?: number };
}

/** Exports the use of a service's connection pools, by the name of each. */
export function measurePools(metrics: Metrics, pools: Readonly<Record<string, MeasuredPool>>): void {
  const all = Object.entries(pools);
  metrics.readGauges(
    {
      name: 'phds_db_pool_connections',
      help: 'Open connections to the database.',
      labels: ['pool', 'state'],
    },
    () =>
      all.flatMap(([pool, { totalCount, idleCount }]) => [
        [{ pool, state: 'used' }, totalCount - idleCount],
        [{ pool, state: 'idle' }, idleCount],
      ]),
  );
  metrics.readGauges(
    {
      name: 'phds_db_pool_waiting',
      help: 'Callers that wait for a connection of the pool.',
      labels: ['pool'],
    },
    () => all.map(([pool, { waitingCount }]) => [{ pool }, waitingCount]),
  );
  metrics.readGauges(
    { name: 'phds_db_pool_size', help: 'Maximum number of connections of the pool.', labels: ['pool'] },
    () => all.map(([pool, { options }]) => [{ pool }, options.max ?? 0]),
  );
}

/** Exports whether there is a connection to Redis. Only for a service that has one configured. */
export function measureRedis(metrics: Metrics, redis: { isUp(): boolean }): void {
  metrics.readGauge({ name: 'phds_redis_up', help: 'Whether there is a connection to Redis: 1 or 0.' }, () =>
    redis.isUp() ? 1 : 0,
  );
}

/** Exports whether an unconfirmed restore of the database suspends older grants or apps. */
export function measureRestores(metrics: Metrics, guard: { readonly isSuspending: boolean }): void {
  metrics.readGauge(
    {
      name: 'phds_restore_suspended',
      help: 'Whether a restore of the database, not yet confirmed, suspends everything older: 1 or 0.',
    },
    () => (guard.isSuspending ? 1 : 0),
  );
}

/** Measures the rpcs that a service answers. */
export function measureServedRpcs(metrics: Metrics): RpcObserver {
  let inFlight = 0;
  metrics.readGauge({ name: 'phds_rpc_server_in_flight', help: 'Rpcs being answered now.' }, () => inFlight);
  const refused = metrics.counter({
    name: 'phds_rpc_caller_refused_total',
    help: 'Rpcs refused because the caller is not one that the rpc lists, or has no valid service token.',
    labels: ['rpc'],
  });
  const observe = durationsOf(metrics, 'phds_rpc_server_duration_seconds', 'Duration of answered rpcs.');
  return {
    started(method) {
      const startedAt = performance.now();
      inFlight += 1;
      return (code) => {
        inFlight -= 1;
        observe(method, code, startedAt);
      };
    },
    refused: (method) => refused.inc({ rpc: toRpcName(method) }),
  };
}

/** Measures the rpcs that a service calls. */
export function measureCalledRpcs(metrics: Metrics): RpcObserver {
  const observe = durationsOf(
    metrics,
    'phds_rpc_client_duration_seconds',
    'Duration of rpcs of other services, as the caller waits for them.',
  );
  return {
    started(method) {
      const startedAt = performance.now();
      return (code) => observe(method, code, startedAt);
    },
  };
}

type Observe = (method: DescMethod, code: RpcCode, startedAt: number) => void;

/** Keeps the child of each rpc and code, because looking it up by labels for each call costs more than the observation. */
function durationsOf(metrics: Metrics, name: string, help: string): Observe {
  const histogram = metrics.histogram({ name, help, labels: ['rpc', 'code'] });
  type Child = ReturnType<typeof histogram.labels>;
  const byMethod = new Map<DescMethod, Map<RpcCode, Child>>();
  return (method, code, startedAt) => {
    let byCode = byMethod.get(method);
    if (byCode === undefined) {
      byCode = new Map();
      byMethod.set(method, byCode);
    }
    let child = byCode.get(code);
    if (child === undefined) {
      child = histogram.labels(toRpcName(method), code);
      byCode.set(code, child);
    }
    child.observe((performance.now() - startedAt) / 1000);
  };
}
