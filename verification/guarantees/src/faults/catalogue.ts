import { expectStatus } from '@phds/running-system/partner-app';
import { send } from '@phds/running-system/request';
import { connectPerson } from '@phds/running-system/working-system';
import { sendMalformedRequests } from '../hostile/hostile-clients.ts';
import { SURFACES, type Surface } from '../hostile/malformed-requests.ts';
import type { Fault } from './fault.ts';
import { EDGE_FAULTS, SLOW_FAULTS, TOKEN_CONNECTION_FAULTS } from './network.ts';
import { CLOCK_FAULTS, CRASHES, PAUSES, REPLICA_FAULTS, SERVICE_FAULTS } from './processes.ts';
import { POSTGRES_FAULTS, REDIS_FAULTS } from './stores.ts';

const REQUESTS = 100_000;
/** Minimum duration of a fault that sends all requests. Milliseconds. */
const FULL_MS = 10_000;

/** A person with an account, an app and a consent, who sends what no honest app sends. */
function hostile(surface: Surface, index: number): Fault {
  return {
    name: `hostile-${surface}`,
    what: `a hundred thousand malformed requests to the ${surface} surface (fewer in a short run)`,
    play: async (site) => {
      const { app, session } = await connectPerson(site.stack, 'hostile');
      const { clientId, clientSecret } = app;
      const known = expectStatus(200, await send(`${app.gateway}/oauth/scopes?pageSize=100`)).body.data;
      const { accessToken } = await app.connect(
        session,
        known.map(({ scope }: { readonly scope: string }) => scope),
      );
      const { statuses, violations } = await sendMalformedRequests({
        surface,
        gatewayUrls: site.stack.gatewayUrls,
        credentials: { clientId, clientSecret, session, accessToken },
        requests: Math.round(REQUESTS * Math.min(1, site.milliseconds / FULL_MS)),
        seed: index + 1,
      });
      site.say(`answers by status: ${JSON.stringify(statuses)}`);
      if (violations.length > 0) throw new Error(violations.join('\n'));
    },
  };
}

/** Every fault, in the order of a full run. */
export const FAULTS: readonly Fault[] = [
  ...CRASHES,
  ...PAUSES,
  ...REPLICA_FAULTS,
  ...TOKEN_CONNECTION_FAULTS,
  ...REDIS_FAULTS,
  ...POSTGRES_FAULTS,
  ...SERVICE_FAULTS,
  ...CLOCK_FAULTS,
  ...EDGE_FAULTS,
  ...SLOW_FAULTS,
  ...SURFACES.map(hostile),
];

/** The faults of the short run: one of each kind, and those that depend on the record step most. */
export const SHORT_FAULTS: readonly string[] = [
  'redis-swallowed-events',
  'kill-consent',
  'kill-postgres',
  'pause-health-data',
  'ten-thousand-revocations',
  'edge-gateway-consent',
  'edge-health-data-consent',
  'edge-consent-postgres',
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
