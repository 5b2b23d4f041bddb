import type { ProxyMode } from '@phds/test-kit/proxy-mode';
import { EDGES, type Edge } from '../proxied-stack.ts';
import { again, type Fault } from './fault.ts';

const MODES: readonly ProxyMode[] = [
  { kind: 'delay', milliseconds: 300 },
  { kind: 'drop' },
  { kind: 'half-open' },
  { kind: 'reset' },
  { kind: 'slice', bytes: 3 },
];

/** Share of the time during which new connections work, so that clients notice the ones a mode left dead. */
const RESPITE = 0.25;

function spoil(edge: Edge): Fault {
  return {
    name: `edge-${edge.replace('→', '-')}`,
    what: `between ${edge.replace('→', ' and ')} bytes are delayed, dropped, met with half-open connections, reset, sliced`,
    ...(edge.endsWith('redis') ? { needsRedis: true } : {}),
    play: async (site) => {
      const proxy = site.stack.proxies[edge];
      const each = { ...site, milliseconds: Math.max(site.milliseconds, MODES.length) };
      try {
        await again(each, each.milliseconds / MODES.length, async (turn, milliseconds) => {
          const mode = MODES[turn % MODES.length] as ProxyMode;
          site.say(`${edge}: ${mode.kind}, ${proxy.connections} connections`);
          proxy.set(mode);
          await site.sleep(milliseconds * (1 - RESPITE));
          proxy.set({ kind: 'pass' });
          await site.sleep(milliseconds * RESPITE);
        });
      } finally {
        proxy.set({ kind: 'pass' });
      }
    },
  };
}

export const EDGE_FAULTS: readonly Fault[] = EDGES.map(spoil);
