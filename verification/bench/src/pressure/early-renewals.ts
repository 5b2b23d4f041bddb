import { type IntrospectResponse, TokenStatus } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { newSecret } from '@phds/service-kit/secrets';
import { Authenticator } from '../../../../services/gateway/src/cache/authenticator.ts';
import { PrincipalCache } from '../../../../services/gateway/src/cache/principal-cache.ts';

const HOT_TOKENS = [15_000, 45_000];
/** Simulated seconds; the figures are of the last minute. */
const SECONDS = 240;
const COUNTED_SECONDS = 60;

/**
 * Simulates one gateway whose tokens are all used once a second, with the default settings of the cache and a turn of early renewal
 * each second. Counts what authorization is asked: early, and by requests that wait for the answer.
 */
export async function benchEarlyRenewals(): Promise<string> {
  const rows: string[] = [];
  for (const tokens of HOT_TOKENS) rows.push(await simulate(tokens));
  return [
    '| Hot tokens | asked a second | of them by waiting requests | left in the list |',
    '|---|---|---|---|',
    ...rows,
  ].join('\n');
}

async function simulate(count: number): Promise<string> {
  let time = Date.parse('2026-03-01T12:00:00Z');
  const clock = { now: () => new Date(time) };
  const cache = new PrincipalCache({ maxTokens: 50_000, ttlMs: 50_000, clock });
  const live = toLiveToken(time / 1_000 + 3_600);
  let asked = 0;
  const introspect = async () => {
    asked += 1;
    return live;
  };
  const authenticator = new Authenticator({ tokens: { introspect }, cache, clock });
  const tokens = Array.from({ length: count }, () => newSecret('access_token'));
  const counted = { early: 0, waiting: 0 };
  for (let second = 0; second < SECONDS; second += 1) {
    const before = asked;
    await Promise.all(tokens.map((token) => authenticator.authenticate(token)));
    const waiting = asked - before;
    await authenticator.renewDue();
    if (second >= SECONDS - COUNTED_SECONDS) {
      counted.waiting += waiting;
      counted.early += asked - before - waiting;
    }
    time += 1_000;
  }
  const aSecond = (calls: number) => Math.round(calls / COUNTED_SECONDS);
  const left = cache.takeDue(Number.POSITIVE_INFINITY).length;
  return `| ${count} | ${aSecond(counted.early + counted.waiting)} | ${aSecond(counted.waiting)} | ${left} |`;
}

/** The fields that the gateway reads. */
function toLiveToken(expiresAtSeconds: number): IntrospectResponse {
  const expiresAt = { seconds: BigInt(expiresAtSeconds), nanos: 0 };
  const principal = {
    clientId: 'app_one',
    userId: 'usr_one',
    grantId: '',
    familyId: '',
    scopes: [],
    expiresAt,
  };
  return {
    status: TokenStatus.LIVE,
    principal,
    assertion: '',
    ledgerChecked: true,
  } as unknown as IntrospectResponse;
}
