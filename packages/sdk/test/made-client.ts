import { type Client, type ClientOptions, createClient } from '../src/client.ts';
import { memoryTokenStore, type TokenSet, type TokenStore } from '../src/token-store.ts';
import { type Reply, ScriptedService, type Sent, SleepingClock } from './scripted-service.ts';

interface MadeClient {
  readonly client: Client;
  readonly service: ScriptedService;
  readonly clock: SleepingClock;
  readonly store: TokenStore;
}

interface Made {
  readonly store?: TokenStore;
  readonly options?: Partial<ClientOptions>;
}

/** A client without jitter in front of a scripted service. */
export function makeClient(
  reply: (sent: Sent, index: number) => Reply | Promise<Reply>,
  { store = memoryTokenStore(), options = {} }: Made = {},
): MadeClient {
  const service = new ScriptedService(reply);
  const clock = new SleepingClock();
  const client = createClient({
    baseUrl: 'https://health.example/',
    clientId: 'app_1',
    clientSecret: 'phds_cs_1',
    redirectUri: 'https://app.example/callback',
    fetch: service.fetch,
    random: () => 0,
    clock,
    store,
    ...options,
  });
  return { client, service, clock, store };
}

/** Tokens that live for an hour. */
export function tokens(number: number, issuedAt: number): TokenSet {
  return {
    grantId: 'grt_1',
    sub: 'sub_1',
    accessToken: `phds_at_${number}`,
    tokenType: 'Bearer',
    refreshToken: `phds_rt_${number}`,
    scopes: ['read:profile'],
    issuedAt,
    expiresAt: issuedAt + 3_600_000,
  };
}

/** The token endpoint's answer with the tokens of this number. */
export function tokenAnswer(number: number) {
  return {
    access_token: `phds_at_${number}`,
    refresh_token: `phds_rt_${number}`,
    token_type: 'Bearer',
    expires_in: 3_600,
    scope: 'read:profile',
    grant_id: 'grt_1',
    sub: 'sub_1',
  };
}
