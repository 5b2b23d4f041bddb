import type { ManagedProcess } from '@phds/local-stack/managed-process';
import { again, type Fault, type Site } from './fault.ts';

const STORM_TOKENS = 10_000;
/** Minimum duration of a fault with the full storm. Milliseconds. */
const FULL_STORM_MS = 12_000;

function processOf({ stack }: Site, name: string): ManagedProcess {
  const found = stack.processes.get(name);
  if (found === undefined) throw new Error(`no process ${name}`);
  return found;
}

async function restart(site: Site, name: string): Promise<void> {
  const one = processOf(site, name);
  await one.stop();
  await one.start();
  site.say(`${name} restarted`);
}

export const SERVICE_FAULTS: readonly Fault[] = [
  {
    name: 'authorization-down',
    what: 'authorization is unavailable for the whole time',
    play: async (site) => {
      const authorization = processOf(site, 'authorization');
      await authorization.kill();
      try {
        await site.sleep(site.milliseconds);
      } finally {
        await authorization.start();
      }
    },
  },
  {
    name: 'consent-restarts',
    what: 'consent is restarted in order, again and again',
    play: (site) =>
      again(site, 3_000, async (_turn, milliseconds) => {
        await restart(site, 'consent');
        await site.sleep(milliseconds / 3);
      }),
  },
  {
    name: 'rolling-restart',
    what: 'every service and every gateway is restarted in order, one after the other',
    play: async (site) => {
      const gateways = site.stack.gatewayUrls.map((_url, index) => `gateway-${index + 1}`);
      const names = ['consent', 'health-data', 'authorization', ...gateways];
      for (const name of names) {
        await restart(site, name);
        await site.sleep(site.milliseconds / names.length / 2);
      }
    },
  },
  {
    name: 'ten-thousand-revocations',
    what: 'ten thousand tokens that the gateways know are revoked at once (fewer in a short run)',
    play: async ({ load, milliseconds, say }) => {
      const tokens = Math.round(STORM_TOKENS * Math.min(1, (milliseconds / FULL_STORM_MS) ** 3));
      say(`collecting ${tokens} tokens, to revoke them at once`);
      await load.storm(tokens);
      say(`${tokens} revocations acknowledged`);
    },
  },
];
