import type { DatabaseService } from '@phds/local-stack/key-files';
import { expectStatus, type PartnerApp } from '@phds/running-system/partner-app';
import { EDGES, type Edge } from '@phds/running-system/proxied-stack';
import { HEART } from '@phds/running-system/revocation-ways';
import { connectPerson, HEART_PATH } from '@phds/running-system/working-system';
import type { ProxyMode } from '@phds/test-kit/proxy-mode';
import type { TcpProxy } from '@phds/test-kit/tcp-proxy';
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

/** Longer than every caller's deadline (the longest is HEALTH_DATA_DEADLINE_MS, 3 s), so that no response arrives in time. */
const DELAY_MS = 3_500;
const SLOWER_EVERY_MS = 8_000;

/**
 * Makes a service too slow for its callers. First its calls are delayed; then its database connection is, so that the service is
 * still working when its caller gives up.
 */
function slow(service: DatabaseService, callers: readonly Edge[]): Fault {
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
        { ...site, milliseconds: Math.max(site.milliseconds, 2 * SLOWER_EVERY_MS) },
        SLOWER_EVERY_MS,
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

/** Longer than a gateway needs to open a lost stream again, before it is this gateway's turn again. */
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

export const TOKEN_STREAM_FAULTS: readonly Fault[] = [
  {
    name: 'token-streams-lost',
    what: 'the connection to authorization is lost with the request of a token, and with the answer, which is after the commit',
    play: async (site) => {
      const { proxies, gatewayUrls } = site.stack;
      const proxy = proxies['gateway→authorization'];
      const { app, session } = await connectPerson(site.stack, 'token-streams');
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
