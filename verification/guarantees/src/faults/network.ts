import { expectStatus, type PartnerApp } from '@phds/running-system/partner-app';
import { EDGES, type Edge } from '@phds/running-system/proxied-stack';
import { HEART } from '@phds/running-system/revocation-ways';
import { connectPerson, HEART_PATH } from '@phds/running-system/working-system';
import type { DatabaseService } from '@phds/service-kit/keys/key-files';
import type { ProxyMode } from '@phds/test-kit/proxy-mode';
import type { TcpProxy } from '@phds/test-kit/tcp-proxy';
import { PROOF_USED_ELSEWHERE } from '../load/reads.ts';
import { again, disturb, type Fault, type Site } from './fault.ts';

const MODES: readonly ProxyMode[] = [
  { kind: 'delay', milliseconds: 300 },
  { kind: 'drop' },
  { kind: 'half-open' },
  { kind: 'reset' },
  { kind: 'slice', bytes: 3 },
];

/** Sets the mode of connections until `undo`. */
export function spoil(
  { stack: { proxies } }: Pick<Site, 'stack'>,
  undo: AsyncDisposableStack,
  edges: readonly Edge[],
  mode: ProxyMode,
): void {
  for (const edge of edges) {
    proxies[edge].set(mode);
    undo.defer(() => proxies[edge].set({ kind: 'pass' }));
  }
}

/** Between the turns, new connections work, so that clients notice the ones a mode left dead. */
const SHARE = 0.75;

export const EDGE_FAULTS: readonly Fault[] = EDGES.map((edge) => ({
  name: `edge-${edge.replace('→', '-')}`,
  what: `between ${edge.replace('→', ' and ')} bytes are delayed, dropped, met with half-open connections, reset, sliced`,
  ...(edge.endsWith('redis') && { needs: 'Redis' as const }),
  ...(edge === 'gateway→redis' && { excuses: [PROOF_USED_ELSEWHERE] }),
  play: (site) => {
    const cause = (_site: Site, undo: AsyncDisposableStack, turn: number) => {
      const mode = MODES[turn % MODES.length] as ProxyMode;
      site.say(`${edge}: ${mode.kind}, ${site.stack.proxies[edge].connections} connections`);
      spoil(site, undo, [edge], mode);
    };
    return disturb(cause, { everyMs: site.milliseconds / MODES.length, share: SHARE })(site);
  },
}));

/** Longer than every caller's deadline (the longest is the gateway's for health-data, 3 s), so that no response arrives in time. */
const DELAY_MS = 3_500;
const SLOWER_EVERY_MS = 8_000;

/**
 * Makes a service too slow for its callers. First its calls are delayed; then its database connection is, so that the service is
 * still working when its caller gives up.
 */
function slow(service: DatabaseService, callers: readonly Edge[]): Fault {
  const groups: readonly (readonly Edge[])[] = [callers, [`${service}→postgres`]];
  const play = disturb(
    (site, undo, turn) => {
      const edges = groups[turn % groups.length] as readonly Edge[];
      site.say(`${edges.join(', ')}: ${DELAY_MS / 1_000} s late`);
      spoil(site, undo, edges, { kind: 'delay', milliseconds: DELAY_MS });
    },
    { everyMs: SLOWER_EVERY_MS, share: SHARE },
  );
  return {
    name: `slow-${service}`,
    what: `${service}, and then its database, answers only after its callers have given up`,
    play: (site) => play({ ...site, milliseconds: Math.max(site.milliseconds, 2 * SLOWER_EVERY_MS) }),
  };
}

export const SLOW_FAULTS: readonly Fault[] = [
  slow('authorization', ['gateway→authorization']),
  slow('consent', ['gateway→consent', 'authorization→consent', 'health-data→consent']),
  slow('health-data', ['gateway→health-data']),
];

/** Longer than a gateway needs to connect again, before it is this gateway's turn again. */
const LOSS_EVERY_MS = 2_000;

interface Loss {
  readonly app: PartnerApp;
  readonly session: string;
  readonly proxy: TcpProxy;
}

/** A request of a refresh or a code, lost before it is executed, or its answer after the commit. */
const LOSSES = {
  'the request of a code': async ({ app, session, proxy }: Loss) => {
    const { code } = await app.expectCode(session, [HEART]);
    proxy.resetAt('client', code);
    expectStatus(503, await app.exchange(code));
    await app.expectTokens(code);
  },
  'the answer to a code': async ({ app, session, proxy }: Loss) => {
    const { code, grantId } = await app.expectCode(session, [HEART]);
    proxy.resetAt('server', grantId);
    // Sent again by the gateway, it would be refused with 400, as a replay is here.
    expectStatus(503, await app.exchange(code));
    expectStatus(400, await app.exchange(code));
  },
  'the request of a refresh': (loss: Loss) => refresh(loss, 'client'),
  'the answer to a refresh': (loss: Loss) => refresh(loss, 'server'),
};

async function refresh({ app, session, proxy }: Loss, side: 'client' | 'server'): Promise<void> {
  const { code, grantId } = await app.expectCode(session, [HEART]);
  const { refreshToken } = await app.expectTokens(code);
  proxy.resetAt(side, side === 'client' ? refreshToken : grantId);
  const { body } = expectStatus(200, await app.refresh(refreshToken));
  expectStatus(200, await app.read(body.access_token, HEART_PATH));
}

export const TOKEN_CONNECTION_FAULTS: readonly Fault[] = [
  {
    name: 'token-connections-lost',
    what: 'the connection to authorization is lost with the request of a token, and with the answer, which is after the commit',
    play: async (site) => {
      const { proxies, gatewayUrls } = site.stack;
      const proxy = proxies['gateway→authorization'];
      const { app, session } = await connectPerson(site.stack, 'token-connections');
      const losses = Object.entries(LOSSES);
      await again(site, LOSS_EVERY_MS, async (turn, milliseconds) => {
        const [what, lose] = losses[turn % losses.length] as (typeof losses)[number];
        await lose({ app: app.at(gatewayUrls[turn % gatewayUrls.length] as string), session, proxy });
        site.say(`${what} was lost`);
        await site.sleep(milliseconds / 2);
      });
    },
  },
];
