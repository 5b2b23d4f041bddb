import { expectStatus, type PartnerApp } from '@phds/running-system/partner-app';
import { HEART } from '@phds/running-system/revocation-ways';
import { connectPerson, HEART_PATH } from '@phds/running-system/working-system';
import type { TcpProxy } from '@phds/test-kit/tcp-proxy';
import { again, type Fault } from './fault.ts';

/** Longer than a gateway needs to open a lost stream again, before it is this gateway's turn again. */
const EVERY_MS = 2_000;

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
      await again(site, EVERY_MS, async (turn, milliseconds) => {
        const [what, lose] = losses[turn % losses.length] as (typeof losses)[number];
        await lose({ app: app.at(gatewayUrls[turn % gatewayUrls.length] as string), session, proxy });
        site.say(`${what} was lost`);
        await site.sleep(milliseconds / 2);
      });
    },
  },
];
