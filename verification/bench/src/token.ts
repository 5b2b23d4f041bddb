import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { defaultDataDirectory } from '@phds/dev-stack/data-directory';
import { type Stack, startStack } from '@phds/dev-stack/stack';
import { type PartnerApp, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { newSecret, sha256 } from '@phds/service-kit/secrets';
import pg from 'pg';
import { findProcesses, measureInTurn, type Side } from './measure.ts';
import type { Options } from './options.ts';
import { TOKEN_REQUESTS, type TokenJob, type TokenRequest } from './token-job.ts';
import { reportTokens, type TokenRounds } from './token-report.ts';

const SCOPE = 'read:health-data:heart';
const CONNECTIONS = 16;
const PEOPLE = 50;
const INTROSPECTED_TOKENS = 200;
/** A stretch of exchanges ends early when a side is faster. */
const CODES_PER_SECOND = 1_500;
/** No limit is reached: what is measured is the service, not its limits. */
const UNLIMITED = { LIMIT_CLIENT_PER_MINUTE: '100000000', LIMIT_CLIENT_CREDENTIALS_PER_MINUTE: '100000000' };

/** A server that issues tokens. */
export interface Issuer {
  readonly target: Omit<TokenJob, 'request' | 'connections' | 'seconds' | 'codes'>;
  createCodes(count: number): Promise<readonly string[]>;
}

interface MeasuredIssuer extends Issuer {
  readonly processes: ReadonlyMap<string, number>;
}

/** Measures the token and introspection endpoints, compared with `oidc-provider` that keeps everything in memory. */
export async function benchToken(options: Options): Promise<string> {
  const dataDirectory = join(defaultDataDirectory, 'bench-token');
  const { fresh } = options;
  await using stack = await startStack({
    dataDirectory,
    ports: { random: true, gateways: 1 },
    fresh,
    seed: false,
    environment: { gateway: UNLIMITED },
    say: console.log,
  });
  const service = { ...(await prepareIssuer(stack)), processes: await findProcesses(stack, dataDirectory) };
  const other = await startProvider();
  const measured = new Map<TokenRequest, TokenRounds>();
  for (const request of TOKEN_REQUESTS) {
    console.log(request);
    const sides = {
      'oidc-provider': toSide(other, request, options),
      service: toSide(service, request, options),
    };
    measured.set(request, await measureInTurn(sides, options.rounds, console.log, 'token-load.ts'));
  }
  other.stop();
  return reportTokens(measured, { ...options, connections: CONNECTIONS });
}

function toSide(
  issuer: MeasuredIssuer,
  request: TokenRequest,
  options: Options,
): Side<() => Promise<TokenJob>> {
  return { job: () => toTokenJob(issuer, request, options), processes: issuer.processes };
}

/** One stretch of requests of a kind, with new codes. */
export async function toTokenJob(
  { target, createCodes }: Issuer,
  request: TokenRequest,
  { seconds }: Options,
): Promise<TokenJob> {
  const count = {
    client_credentials: 0,
    refresh_token: CONNECTIONS,
    authorization_code: Math.ceil(seconds * CODES_PER_SECOND),
    introspection: INTROSPECTED_TOKENS,
  }[request];
  return { ...target, request, connections: CONNECTIONS, seconds, codes: await createCodes(count) };
}

async function startProvider(): Promise<MeasuredIssuer & { stop(): void }> {
  const provider = fork(join(import.meta.dirname, 'in-memory-provider.ts'));
  const [target] = (await once(provider, 'message')) as [Issuer['target']];
  return {
    target,
    processes: new Map([['oidc-provider', provider.pid ?? 0]]),
    async createCodes(count) {
      provider.send(count);
      const [codes] = (await once(provider, 'message')) as [string[]];
      return codes;
    },
    stop: () => provider.disconnect(),
  };
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
  const client = new pg.Client({ connectionString: stack.databases.authorization.ownerUrl });
  await client.connect();
  try {
    await client.query(INSERT_CODES, [app.clientId, codes.map(sha256), app.redirectUri]);
  } finally {
    await client.end();
  }
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
