import { CLOCK_FAULTS } from './clocks.ts';
import { CRASHES } from './crashes.ts';
import { EDGE_FAULTS } from './edges.ts';
import type { Fault } from './fault.ts';
import { HOSTILE_FAULTS } from './hostile.ts';
import { PAUSES } from './pauses.ts';
import { POSTGRES_FAULTS } from './postgres.ts';
import { REDIS_FAULTS } from './redis.ts';
import { REPLICA_FAULTS } from './replicas.ts';
import { SERVICE_FAULTS } from './services.ts';
import { SLOW_FAULTS } from './slow.ts';
import { TOKEN_STREAM_FAULTS } from './token-streams.ts';

/** Every fault, in the order of a full run. */
export const FAULTS: readonly Fault[] = [
  ...CRASHES,
  ...PAUSES,
  ...REPLICA_FAULTS,
  ...TOKEN_STREAM_FAULTS,
  ...REDIS_FAULTS,
  ...POSTGRES_FAULTS,
  ...SERVICE_FAULTS,
  ...CLOCK_FAULTS,
  ...EDGE_FAULTS,
  ...SLOW_FAULTS,
  ...HOSTILE_FAULTS,
];

/** The faults of the short run: one of each kind, and those that depend on the record step most. */
export const SHORT_FAULTS: readonly string[] = [
  'redis-swallowed-events',
  'kill-consent',
  'kill-postgres',
  'pause-health-data',
  'ten-thousand-revocations',
  'edge-health-data-consent',
];

/** The faults with these names, or else those whose names contain them. Throws when there is none. */
export function chooseFaults(names: readonly string[], short: boolean): Fault[] {
  if (names.length === 0) return FAULTS.filter(({ name }) => !short || SHORT_FAULTS.includes(name));
  const chosen = names.flatMap((wanted) => {
    const exact = FAULTS.filter(({ name }) => name === wanted);
    const found = exact.length > 0 ? exact : FAULTS.filter(({ name }) => name.includes(wanted));
    if (found.length === 0) throw new Error(`no fault "${wanted}"; see --list`);
    return found;
  });
  return [...new Set(chosen)];
}
