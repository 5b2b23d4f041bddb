import { RAISED_LIMITS } from '@phds/local-stack/service-environments';
import type { Stack } from '@phds/local-stack/stack';
import { type PartnerApp, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { newSecret, sha256 } from '@phds/service-kit/secrets';
import { openClient } from '@phds/test-kit/open-client';
import type { TokenJob, TokenRequest } from './load-job.ts';
import type { Options } from './options.ts';

const SCOPE = 'read:health-data:heart';
const PEOPLE = 50;
const INTROSPECTED_TOKENS = 200;
/** A stretch of exchanges ends early when a side is faster. */
const CODES_PER_SECOND = 4_000;

/** For the gateway. No limit is reached, because the service is measured. */
export const NO_LIMITS = {
  LIMITS: `${RAISED_LIMITS},client=100000000,client-credentials=100000000`,
};

/** A server that issues tokens. */
export interface Issuer {
  readonly target: Omit<TokenJob, 'request' | 'connections' | 'seconds' | 'codes'>;
  createCodes(count: number): Promise<readonly string[]>;
}

/** One stretch of requests of a kind, with new codes. */
export async function toTokenJob(
  { target, createCodes }: Issuer,
  request: TokenRequest,
  { seconds, connections }: Pick<Options, 'seconds' | 'connections'>,
): Promise<TokenJob> {
  const count = {
    'client-credentials': 0,
    refresh: connections,
    code: Math.ceil(seconds * CODES_PER_SECOND),
    introspection: INTROSPECTED_TOKENS,
  }[request];
  return { ...target, request, connections, seconds, codes: await createCodes(count) };
}

/** Connects people to an app through the public interface. */
export async function prepareIssuer(stack: Stack): Promise<Issuer> {
  const [gateway = ''] = stack.gatewayUrls;
  const app = await registerApp(gateway, await signIn(stack, 'bench-developer'), { name: 'Benchmark' });
  for (let n = 1; n <= PEOPLE; n += 1) await app.connect(await signIn(stack, `bench-${n}`), [SCOPE]);
  const { clientId, clientSecret, redirectUri } = app;
  return {
    target: {
      tokenUrl: `${gateway}/oauth/token`,
      introspectionUrl: `${gateway}/oauth/introspect`,
      clientId,
      clientSecret,
      redirectUri,
      scope: SCOPE,
    },
    createCodes: (count) => insertCodes(stack, app, count),
  };
}

/** Inserts codes as if the connected people had approved the app again, because that takes much longer than an exchange. */
async function insertCodes(stack: Stack, app: PartnerApp, count: number): Promise<readonly string[]> {
  const codes = Array.from({ length: count }, () => newSecret('authorization_code'));
  await using client = await openClient(stack.databases.authorization.ownerUrl);
  await client.query(INSERT_CODES, [app.clientId, codes.map(sha256), app.redirectUri]);
  return codes;
}

const INSERT_CODES = `
  INSERT INTO "authorization".authorization_code
    (hash, pending_id, client_id, user_id, grant_id, scopes, redirect_uri, app_epoch, issued_at, expires_at)
  SELECT code.hash, encode(code.hash, 'hex'), $1, person.user_id, person.grant_id, ARRAY['${SCOPE}'], $3, person.app_epoch,
    now(), now() + interval '1 day'
  FROM unnest($2::bytea[]) WITH ORDINALITY AS code(hash, number)
  JOIN (
    SELECT *, row_number() OVER () AS number
    FROM (SELECT DISTINCT user_id, grant_id, app_epoch FROM "authorization".token_family WHERE client_id = $1) AS connected
  ) AS person ON person.number = code.number % ${PEOPLE} + 1`;
