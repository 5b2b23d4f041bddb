import { randomBytes } from 'node:crypto';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { SCOPE_NAMES } from '@phds/catalog/scopes';
import {
  HealthDataService,
  PreviewService,
  type ReadResponse,
} from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import {
  type HealthRecordSchema,
  IngestionService,
  type PutResult,
  type ReadingSchema,
} from '@phds/contracts/phds/healthdata/v1/ingestion_pb';
import { SandboxService } from '@phds/contracts/phds/healthdata/v1/sandbox_pb';
import { AppError, type Reason } from '@phds/service-kit/errors';
import { openRpcChannel } from '@phds/service-kit/rpc/client';
import { ASSERTION_METADATA } from '@phds/service-kit/rpc/context';
import { createLogger } from '@phds/service-kit/telemetry/log';
import { type AccessAssertion, createAssertionSigner } from '@phds/service-kit/trust/access-assertion';
import { createServiceTokenSource, createServiceTokenVerifier } from '@phds/service-kit/trust/callers';
import { createTestDatabase } from '@phds/test-kit/databases';
import { FakeClock } from '@phds/test-kit/fake-clock';
import { createServiceKeys } from '@phds/test-kit/service-keys';
import { createSessionIssuer } from '@phds/test-kit/session-issuer';
import { shared } from '@phds/test-kit/shared';
import { openTestPool } from '@phds/test-kit/test-pool';
import { type Config, readEnvironment } from '../src/config.ts';
import { createService } from '../src/service.ts';
import { FakeConsent } from './fake-consent.ts';

/** The time in these tests, unless one moves the clock. */
export const NOW = '2026-03-01T12:00:00.000Z';

export type Harness = Awaited<ReturnType<typeof startHarness>>;

/** One for all tests of the file. */
export const shareHarness = async (...options: Parameters<typeof startHarness>) =>
  shared.use(await startHarness(...options));

/** The real service on its own database, with a fake consent service. */
export async function startHarness(settings: Record<string, string> = {}, constants: Partial<Config> = {}) {
  await using stack = new AsyncDisposableStack();
  const clock = new FakeClock(NOW);
  const log = createLogger({ service: 'health-data', level: 'silent' });
  const keys = createServiceKeys(['gateway', 'service:importer', 'health-data', 'authorization']);
  const database = stack.use(await createTestDatabase('health-data'));
  const owner = openTestPool(database.ownerUrl, {
    max: 1,
    idleTimeoutMillis: 0,
    options: `-c search_path=${database.schema}`,
  });
  stack.defer(() => owner.end());
  const sessions = await createSessionIssuer({ clock });
  const verifyCaller = createServiceTokenVerifier({ service: 'consent', publicKeys: keys.jwks, clock });
  const consent = stack.use(new FakeConsent({ verifyCaller, log }));
  await consent.start();
  const environment = {
    LOG_LEVEL: 'silent',
    DATABASE_URL: database.url,
    DATABASE_DISTRIBUTED: String(database.distributed),
    RPC_PORT: '0',
    PROBE_PORT: '0',
    SERVICE_PRIVATE_KEY: keys.pem('health-data'),
    SERVICE_PUBLIC_KEYS: keys.jwks,
    ASSERTION_PUBLIC_KEYS: keys.jwks,
    PUBLIC_ID_KEY: randomBytes(32).toString('base64'),
    SESSION_ISSUER: sessions.issuer,
    SESSION_AUDIENCE: sessions.audience,
    SESSION_JWKS: sessions.jwks,
    CONSENT_ADDRESS: `127.0.0.1:${consent.port}`,
    // On a busy machine a new connection or an answer of consent may take seconds.
    DEADLINE_FACTOR: '10',
    ...settings,
  };
  const config = { ...readEnvironment(environment), ...constants };
  const service = stack.use(await createService(config, { clock, log }));
  const tokensOf = (caller: string) =>
    createServiceTokenSource({ service: caller, privateKeyPem: keys.pem(caller), clock });
  const open = (caller: string) => {
    const tokens = tokensOf(caller);
    return openRpcChannel({
      address: `127.0.0.1:${service.rpcPort}`,
      audience: 'health-data',
      tokens,
      deadlineMs: 20_000,
    });
  };
  const gateway = stack.use(open('gateway'));
  const ingestion = stack.use(open('service:importer')).client(IngestionService);
  const sign = createAssertionSigner({ privateKeyPem: keys.pem('authorization'), clock });
  const running = stack.move();
  return {
    clock,
    consent,
    database,
    /** One connection as the owner of the tables. */
    owner,
    sessions,
    rpcPort: service.rpcPort,
    /** The service token of this caller. */
    serviceToken: (name: string) => tokensOf(name)('health-data'),
    /** With the role gateway, like `previews` and `sandbox`. */
    reads: gateway.client(HealthDataService),
    previews: gateway.client(PreviewService),
    sandbox: gateway.client(SandboxService),
    ingestion,
    /** The same clients with the role of another service. */
    as: (name: string) => {
      const channel = running.use(open(name));
      return { reads: channel.client(HealthDataService), ingestion: channel.client(IngestionService) };
    },
    /** Call options with an assertion about this user, by default with all scopes. */
    about: async (userId: string, changes?: Partial<AccessAssertion>) => ({
      headers: { [ASSERTION_METADATA]: await sign({ ...assertionAbout(userId, clock), ...changes }) },
    }),
    putReadings: async (userId: string, readings: MessageInitShape<typeof ReadingSchema>[]) =>
      resultOf(await ingestion.putReadings({ userId, readings })),
    putHealthRecords: async (userId: string, records: MessageInitShape<typeof HealthRecordSchema>[]) =>
      resultOf(await ingestion.putHealthRecords({ userId, records })),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

function assertionAbout(userId: string, clock: FakeClock): AccessAssertion {
  return {
    clientId: 'app_test',
    userId,
    grantId: 'grt_test',
    familyId: 'fam_test',
    scopes: SCOPE_NAMES,
    tokenHash: Buffer.alloc(32, 7).toString('base64url'),
    tokenExpiresAt: Math.floor(clock.now().getTime() / 1000) + 3600,
    dataFrom: null,
    sub: 'sub_test',
    jkt: null,
  };
}

function resultOf({ result }: { result?: PutResult | undefined }): PutResult {
  if (result === undefined) throw new Error('no result');
  return result;
}

/** A reading as an importer sends it, with defaults. */
export function reading(
  type: string,
  start: string,
  value: number,
  rest: { end?: string; source?: string; unit?: string } = {},
) {
  return {
    type,
    start: timestampFromDate(new Date(start)),
    value,
    source: rest.source ?? 'apple-watch',
    ...(rest.end === undefined ? {} : { end: timestampFromDate(new Date(rest.end)) }),
    ...(rest.unit === undefined ? {} : { unit: rest.unit }),
  };
}

export function at(instant: string) {
  return timestampFromDate(new Date(instant));
}

/** The JSON text of a response. */
export function textOf({ body }: Pick<ReadResponse, 'body'>): string {
  return new TextDecoder().decode(body);
}

interface Body {
  // biome-ignore lint/suspicious/noExplicitAny: bodies are compared, not computed with
  readonly data: any;
  readonly pagination: { page: number; pageSize: number; total: number; totalPages: number };
}

export function bodyOf(response: Pick<ReadResponse, 'body'>): Body {
  return JSON.parse(textOf(response)) as Body;
}

/** The error of a call; fails if the call succeeds. */
export async function refusalOf(call: Promise<unknown>): Promise<AppError> {
  const outcome = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (outcome instanceof AppError) return outcome;
  throw new Error(`expected a refusal, got ${String(outcome)}`);
}

export async function reasonOf(call: Promise<unknown>): Promise<Reason> {
  return (await refusalOf(call)).reason;
}
