import type { Clock } from '@phds/service-kit/clock';
import { startPeriodic } from '@phds/service-kit/periodic';
import type { Logger } from '@phds/service-kit/telemetry/log';
import type { Metrics } from '@phds/service-kit/telemetry/metrics';
import { measureSelfTest } from './self-test-metrics.ts';
import { runSelfTestRound, type SelfTestApp, type SelfTestResult } from './self-test-round.ts';

export interface SelfTestOptions {
  readonly app: SelfTestApp;
  /** Milliseconds between two rounds. */
  readonly intervalMs: number;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: Logger;
}

/** Rounds of two gateways that start at once would meet each time if their intervals were equal. */
const SPREAD = 0.1;

/** Repeats the self-test of this gateway until disposal, and exports and logs its results. */
export function startSelfTest({ app, intervalMs, clock, metrics, log }: SelfTestOptions): AsyncDisposable {
  const measure = measureSelfTest(metrics, clock);
  const round = async (signal: AbortSignal) => {
    const result = await runSelfTestRound(app, { signal, onStep: measure.step });
    if (signal.aborted) return;
    measure.round(result.outcome);
    report(result, log);
  };
  return startPeriodic(round, {
    intervalMs: Math.round(intervalMs * (1 + SPREAD * (Math.random() - 0.5))),
    onFailure: (err) => log.error({ err }, 'the self-test failed unexpectedly'),
  });
}

function report(result: SelfTestResult, log: Logger): void {
  if (result.outcome === 'stale') {
    log.error('self-test: data was answered after the end of the grant was acknowledged');
  } else if (result.outcome === 'failed') {
    log.warn({ step: result.step, err: result.cause }, 'self-test: a step failed');
  }
}

/** Base URL of the port at which a gateway on this host listens, which may be every address of the machine. */
export function toOwnUrl(host: string, port: number): string {
  const address =
    new Map([
      ['0.0.0.0', '127.0.0.1'],
      ['::', '::1'],
    ]).get(host) ?? host;
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`;
}
