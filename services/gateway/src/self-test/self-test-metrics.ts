import type { Clock } from '@phds/service-kit/clock';
import type { Metrics } from '@phds/service-kit/telemetry/metrics';
import {
  SELF_TEST_OUTCOMES,
  SELF_TEST_STEPS,
  type SelfTestResult,
  type SelfTestStep,
} from './self-test-round.ts';

/** Exports the results of the self-test. */
export function measureSelfTest(metrics: Metrics, clock: Clock) {
  const stale = metrics.counter({
    name: 'phds_stale_after_ack_total',
    help: 'Rounds of the self-test in which data was answered after the end of the grant was acknowledged.',
  });
  const rounds = metrics.counter({
    name: 'phds_self_test_runs_total',
    help: 'Rounds of the self-test.',
    labels: ['outcome'],
  });
  const lastSuccess = metrics.gauge({
    name: 'phds_self_test_last_success_timestamp_seconds',
    help: 'Unix time of the last round without a failure; 0 before the first.',
  });
  const durations = metrics.histogram({
    name: 'phds_self_test_step_duration_seconds',
    help: 'Duration of the completed steps of the self-test.',
    labels: ['step'],
  });
  for (const outcome of SELF_TEST_OUTCOMES) rounds.inc({ outcome }, 0);
  for (const step of SELF_TEST_STEPS) durations.zero({ step });
  return {
    step: (step: SelfTestStep, seconds: number) => durations.observe({ step }, seconds),
    round(outcome: SelfTestResult['outcome']) {
      rounds.inc({ outcome });
      if (outcome === 'stale') stale.inc();
      if (outcome === 'ok') lastSuccess.set(clock.now().getTime() / 1000);
    },
  };
}
