import { connectPerson } from '@phds/running-system/working-system';
import { sendMalformedRequests } from '../hostile/hostile-clients.ts';
import { callWithGarbage } from '../hostile/hostile-rpcs.ts';
import { SURFACES, type Surface } from '../hostile/malformed-requests.ts';
import type { Fault, Site } from './fault.ts';

const REQUESTS = 100_000;
const CALLS = 20_000;
/** Minimum duration of a fault that sends all requests. Milliseconds. */
const FULL_MS = 10_000;

function scale(full: number, { milliseconds }: Site): number {
  return Math.round(full * Math.min(1, milliseconds / FULL_MS));
}

/** A person with an account, an app and a consent, who sends what no honest app sends. */
function hostile(surface: Surface, index: number): Fault {
  return {
    name: `hostile-${surface}`,
    what: `a hundred thousand malformed requests to the ${surface} surface (fewer in a short run)`,
    play: async (site) => {
      const { app, session, tokens } = await connectPerson(site.stack, 'hostile');
      const { clientId, clientSecret } = app;
      const { statuses, violations } = await sendMalformedRequests({
        surface,
        gatewayUrls: site.stack.gatewayUrls,
        credentials: { clientId, clientSecret, session, accessToken: tokens.accessToken },
        requests: scale(REQUESTS, site),
        seed: index + 1,
      });
      site.say(`answers by status: ${JSON.stringify(statuses)}`);
      if (violations.length > 0) throw new Error(violations.join('\n'));
    },
  };
}

export const HOSTILE_FAULTS: readonly Fault[] = [
  ...SURFACES.map(hostile),
  {
    name: 'hostile-rpc',
    what: 'twenty thousand calls with garbage in them to every rpc (fewer in a short run), and bytes that are no HTTP/2',
    play: async (site) => {
      const { codes, violations } = await callWithGarbage(site.stack, scale(CALLS, site));
      site.say(`answers by gRPC code: ${JSON.stringify(codes)}`);
      if (violations.length > 0) throw new Error(violations.join('\n'));
    },
  },
];
