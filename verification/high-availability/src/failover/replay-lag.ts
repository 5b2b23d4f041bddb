import { startPeriodic } from '@phds/service-kit/periodic';
import type { Cluster } from '../cluster.ts';

const INTERVAL_MS = 1_000;

/** Samples how far the standbys are behind the leader. */
export interface ReplayLag extends AsyncDisposable {
  /** Milliseconds from a commit until a standby shows it: of all samples the median and the maximum. */
  summarize(): string;
}

export function watchReplayLag(cluster: Cluster): ReplayLag {
  const samples: number[] = [];
  const look = async () => {
    const lag = 'coalesce(extract(epoch FROM replay_lag) * 1000, 0)::float8';
    const { rows } = await cluster.query(
      `SELECT ${lag} AS lag FROM pg_stat_replication WHERE state = 'streaming'`,
    );
    samples.push(...rows.map((row) => row.lag));
  };
  // During a failover there is no leader to ask.
  const looking = startPeriodic(look, { intervalMs: INTERVAL_MS, onFailure: () => undefined });
  return {
    summarize: () => {
      const sorted = samples.toSorted((a, b) => a - b);
      const [median, maximum] = [sorted[sorted.length >> 1] ?? 0, sorted.at(-1) ?? 0];
      return `replay lag of the standbys: median ${median.toFixed(1)} ms, maximum ${maximum.toFixed(0)} ms, ${sorted.length} samples`;
    },
    [Symbol.asyncDispose]: () => looking[Symbol.asyncDispose](),
  };
}
