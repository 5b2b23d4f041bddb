import { VerdictSchema } from '@phds/contracts/phds/consent/v1/access_pb';
import { type Metrics, measureRedis, SIZE_BUCKETS } from '@phds/service-kit/telemetry/metrics';
import type { AccessRecorder } from './access/record.ts';
import type { AccessStatements } from './access/statements.ts';
import type { PendingEvents } from './webhooks/queue.ts';
import type { Delivery } from './webhooks/sender.ts';

/** What comes of a published eviction. Without a connection to Redis it is not sent. */
type EvictionOutcome = 'published' | 'failed' | 'not_connected';

/** The metrics of consent. docs/operations/observability.md lists all of them. */
export function createConsentMetrics(metrics: Metrics) {
  return {
    measureRedis: (redis: Parameters<typeof measureRedis>[1]) => measureRedis(metrics, redis),
    measureStatements: (statements: AccessStatements) => measureStatements(metrics, statements),
    measureRecorder: (recorder: AccessRecorder) => measureRecorder(metrics, recorder),
    onCovered: createCheckpointAge(metrics),
    onRevocation: createRevocationTimer(metrics),
    countEviction: createEvictionCounter(metrics),
    webhooks: createWebhookMetrics(metrics),
  };
}

export type ConsentMetrics = ReturnType<typeof createConsentMetrics>;

function measureStatements(metrics: Metrics, statements: AccessStatements): AccessStatements {
  const sizes = metrics.histogram(
    { name: 'phds_access_batch_records', help: 'Access records written by one statement.' },
    SIZE_BUCKETS,
  );
  const steps = metrics.histogram({
    name: 'phds_access_batch_duration_seconds',
    help: 'Duration of writing a batch of access records, and of judging it.',
    labels: ['step'],
  });
  const [insert, judge] = [steps.labels('insert'), steps.labels('judge')];
  const names = VerdictSchema.values.filter(({ number }) => number !== 0);
  const verdicts = new Map(names.map(({ localName }) => [localName.toLowerCase(), 0]));
  metrics.readCounters(
    { name: 'phds_access_verdicts_total', help: 'Judged accesses.', labels: ['verdict'] },
    () => [...verdicts].map(([verdict, count]) => [{ verdict }, count]),
  );
  return {
    ...statements,
    async insert(batch) {
      const startedAt = performance.now();
      await statements.insert(batch);
      insert.observe(secondsSince(startedAt));
      sizes.observe(batch.accessRecords.length);
    },
    async judge(accesses, userRefs) {
      const startedAt = performance.now();
      const judgements = await statements.judge(accesses, userRefs);
      judge.observe(secondsSince(startedAt));
      for (const judgement of judgements) {
        if (judgement !== 'reference_differs') verdicts.set(judgement, (verdicts.get(judgement) ?? 0) + 1);
      }
      return judgements;
    },
  };
}

function measureRecorder(metrics: Metrics, recorder: AccessRecorder): void {
  metrics.readCounter(
    {
      name: 'phds_access_not_recorded_total',
      help: 'Accesses that were not recorded or not judged, and whose data was therefore not released.',
    },
    () => recorder.unrecorded,
  );
  metrics.readGauge(
    { name: 'phds_access_queue_length', help: 'Accesses that wait for their insert or their judgement.' },
    () => recorder.waiting,
  );
}

function createCheckpointAge(metrics: Metrics): () => void {
  let coveredAt = performance.now();
  metrics.readGauge(
    {
      name: 'phds_checkpoint_age_seconds',
      help: 'Time since this instance last signed a checkpoint, or found all access records under one.',
    },
    () => secondsSince(coveredAt),
  );
  return () => {
    coveredAt = performance.now();
  };
}

/** What a revocation ends. */
export type RevocationKind = (typeof REVOCATION_KINDS)[number];

const REVOCATION_KINDS = [
  'grant',
  'grant_by_app',
  'grant_by_operator',
  'all_grants',
  'narrowing',
  'erasure',
  'app_status',
  'family',
  'token',
  'session',
] as const;

function createRevocationTimer(metrics: Metrics): (kind: RevocationKind, startedAt: number) => void {
  const durations = metrics.histogram({
    name: 'phds_revocation_duration_seconds',
    help: 'Duration of revocations, from the call to the commit.',
    labels: ['kind'],
  });
  const byKind = new Map(REVOCATION_KINDS.map((kind) => [kind, durations.labels(kind)]));
  return (kind, startedAt) => byKind.get(kind)?.observe(secondsSince(startedAt));
}

function createEvictionCounter(metrics: Metrics): (outcome: EvictionOutcome) => void {
  const evictions = metrics.counter({
    name: 'phds_evictions_published_total',
    help: 'Evictions of cached tokens sent to the gateways over Redis.',
    labels: ['outcome'],
  });
  for (const outcome of ['published', 'failed', 'not_connected']) evictions.inc({ outcome }, 0);
  return (outcome) => evictions.inc({ outcome });
}

function createWebhookMetrics(metrics: Metrics) {
  const waiting = metrics.gauge({
    name: 'phds_webhook_waiting',
    help: 'Events that wait for delivery, over all instances.',
  });
  const oldest = metrics.gauge({
    name: 'phds_webhook_oldest_due_seconds',
    help: 'For how long the oldest event of an endpoint that does not fail has been due; 0 if none is.',
  });
  const deliveries = metrics.counter({
    name: 'phds_webhook_deliveries_total',
    help: 'Attempts to deliver events.',
    labels: ['outcome'],
  });
  return {
    onMeasured({ pending, oldestDueMs }: PendingEvents): void {
      waiting.set(pending);
      oldest.set((oldestDueMs ?? 0) / 1000);
    },
    onDelivery: (outcome: Delivery): void => deliveries.inc({ outcome }),
  };
}

function secondsSince(startedAt: number): number {
  return (performance.now() - startedAt) / 1000;
}
