import type { Fault } from './fault.ts';
import { HOSTILE_FAULTS } from './hostile.ts';
import { EDGE_FAULTS, SLOW_FAULTS, TOKEN_STREAM_FAULTS } from './network.ts';
import { CLOCK_FAULTS, CRASHES, PAUSES, REPLICA_FAULTS, SERVICE_FAULTS } from './processes.ts';
import { POSTGRES_FAULTS, REDIS_FAULTS } from './stores.ts';

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
