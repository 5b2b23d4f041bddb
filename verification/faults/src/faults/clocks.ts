import type { ServiceName } from '../proxied-stack.ts';
import { again, type Fault, type Site } from './fault.ts';

const HOUR_MS = 3_600_000;

/** Small enough that service tokens are accepted, large enough that comparisons around a minute boundary fail. */
const APART: Readonly<Record<ServiceName, number>> = {
  gateway: -40_000,
  authorization: 4_000,
  consent: 2_000,
  'health-data': -3_000,
};

const JUMPS: readonly (readonly [ServiceName, number])[] = [
  ['gateway', -HOUR_MS],
  ['consent', -HOUR_MS],
  ['authorization', HOUR_MS],
  ['health-data', HOUR_MS],
  ['consent', HOUR_MS],
  ['gateway', HOUR_MS],
];

async function setRight({ stack }: Site): Promise<void> {
  for (const service of Object.keys(APART) as ServiceName[]) await stack.skewClock(service, 0);
}

export const CLOCK_FAULTS: readonly Fault[] = [
  {
    name: 'clocks-apart',
    what: 'the clocks of all services are off by seconds, that of the gateways by most of a minute',
    play: async (site) => {
      try {
        for (const [service, off] of Object.entries(APART)) {
          await site.stack.skewClock(service as ServiceName, off);
        }
        await site.sleep(site.milliseconds);
      } finally {
        await setRight(site);
      }
    },
  },
  {
    name: 'clocks-jump',
    what: 'the clock of one service after the other is an hour behind or ahead for a while',
    play: (site) =>
      again(site, 4_000, async (turn, milliseconds) => {
        const [service, off] = JUMPS[turn % JUMPS.length] as (typeof JUMPS)[number];
        site.say(`${service} is an hour ${off < 0 ? 'behind' : 'ahead'}`);
        try {
          await site.stack.skewClock(service, off);
          await site.sleep(milliseconds);
        } finally {
          await setRight(site);
        }
      }),
  },
];
