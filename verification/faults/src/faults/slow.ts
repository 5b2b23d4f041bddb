import type { Edge, ServiceName } from '../proxied-stack.ts';
import { again, type Fault } from './fault.ts';

/** Longer than every caller's deadline (the longest is HEALTH_DATA_DEADLINE_MS, 3 s), so that no response arrives in time. */
const DELAY_MS = 3_500;
const EVERY_MS = 8_000;

/**
 * Makes a service too slow for its callers. First its calls are delayed; then its database connection is, so that the service is
 * still working when its caller gives up.
 */
function slow(service: Exclude<ServiceName, 'gateway'>, callers: readonly Edge[]): Fault {
  const edges: readonly (readonly Edge[])[] = [callers, [`${service}→postgres`]];
  return {
    name: `slow-${service}`,
    what: `${service}, and then its database, answers only after its callers have given up`,
    play: async (site) => {
      const set = (names: readonly Edge[], milliseconds: number | null) => {
        const mode =
          milliseconds === null ? ({ kind: 'pass' } as const) : ({ kind: 'delay', milliseconds } as const);
        for (const name of names) site.stack.proxies[name].set(mode);
      };
      await again(
        { ...site, milliseconds: Math.max(site.milliseconds, 2 * EVERY_MS) },
        EVERY_MS,
        async (turn, length) => {
          const names = edges[turn % edges.length] as readonly Edge[];
          site.say(`${names.join(', ')}: ${DELAY_MS / 1_000} s late`);
          set(names, DELAY_MS);
          try {
            await site.sleep(length * 0.75);
          } finally {
            set(names, null);
          }
          await site.sleep(length * 0.25);
        },
      );
    },
  };
}

export const SLOW_FAULTS: readonly Fault[] = [
  slow('authorization', ['gateway→authorization']),
  slow('consent', ['gateway→consent', 'authorization→consent', 'health-data→consent']),
  slow('health-data', ['gateway→health-data']),
];
