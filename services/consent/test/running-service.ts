import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate, timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { CallOptions } from '@connectrpc/connect';
import { RestoreService } from '@phds/contracts/phds/common/v1/restore_pb';
import { AccessService, type Verdict } from '@phds/contracts/phds/consent/v1/access_pb';
import { ConsentService } from '@phds/contracts/phds/consent/v1/consent_pb';
import { GrantService } from '@phds/contracts/phds/consent/v1/grants_pb';
import {
  LedgerService,
  type Liveness,
  type LivenessCheckSchema,
  type RevokeTokensRequestSchema,
} from '@phds/contracts/phds/consent/v1/ledger_pb';
import { OperatorActService } from '@phds/contracts/phds/consent/v1/operator_acts_pb';
import { PersonOperatorService } from '@phds/contracts/phds/consent/v1/people_pb';
import { SandboxService } from '@phds/contracts/phds/consent/v1/sandbox_pb';
import { SessionService } from '@phds/contracts/phds/consent/v1/sessions_pb';
import { newId } from '@phds/service-kit/ids';
import { openRpcChannel } from '@phds/service-kit/rpc/client';
import { REASON_METADATA } from '@phds/service-kit/rpc/context';
import { createLogger } from '@phds/service-kit/telemetry/log';
import {
  createServiceTokenSource,
  findOperator,
  type ServiceTokenSource,
} from '@phds/service-kit/trust/callers';
import { createTestDatabase, type TestDatabase } from '@phds/test-kit/databases';
import { createServiceKeys } from '@phds/test-kit/service-keys';
import { createSessionIssuer, type SessionOverrides } from '@phds/test-kit/session-issuer';
import { shared } from '@phds/test-kit/shared';
import { openTestPool } from '@phds/test-kit/test-pool';
import { type CONSTANTS, readEnvironment } from '../src/config.ts';
import { createService, type Overrides } from '../src/service.ts';

const OPERATOR = 'operator:on-call';
/** Services of the deployment with one role, or two. */
const READER = 'service:support-desk';
const ENDER = 'service:billing';
const CALLERS = ['gateway', 'authorization', 'health-data', OPERATOR, READER, ENDER] as const;
const ROLES = { [READER]: ['consent-reader'], [ENDER]: ['consent-ender', 'record-writer'] };
type Caller = (typeof CALLERS)[number];

/** From which the secrets of webhooks are derived. */
export const WEBHOOK_KEY = randomBytes(32).toString('base64');

/** A consent service with its own database, and its callers. */
export type RunningService = Awaited<ReturnType<typeof startConsent>>;

interface RunningServiceOptions {
  readonly settings?: Record<string, string>;
  readonly constants?: Partial<typeof CONSTANTS>;
  readonly overrides?: Overrides;
  /** Wraps the connection to the database, for example in a proxy. */
  readonly databaseUrl?: (url: string) => Promise<string>;
  /** Disposed with the service. Default: a new one. */
  readonly database?: TestDatabase;
}

/** One for all tests of the file. */
export const shareConsent = async (options?: RunningServiceOptions) =>
  shared.use(await startConsent(options));

/** Connections of the schema's owner. */
export const openOwner = ({ ownerUrl }: TestDatabase) =>
  openTestPool(ownerUrl, { max: 4, options: '-c search_path=consent' });

export async function startConsent(options: RunningServiceOptions = {}) {
  await using resources = new AsyncDisposableStack();
  const database = resources.use(options.database ?? (await createTestDatabase('consent')));
  const owner = resources.adopt(openOwner(database), (pool) => pool.end());
  const sessions = await createSessionIssuer();
  const keys = createServiceKeys(CALLERS, ROLES);
  const tokens = Object.fromEntries(
    CALLERS.map((service) => [
      service,
      createServiceTokenSource({ service, privateKeyPem: keys.pem(service) }),
    ]),
  ) as Record<Caller, ServiceTokenSource>;
  const receipts = generateKeyPairSync('ed25519');
  const pem = receipts.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const url = (await options.databaseUrl?.(database.url)) ?? database.url;
  const settings = {
    LOG_LEVEL: 'silent',
    DATABASE_URL: url,
    // On a busy machine a new connection, and the turn of an access, may take seconds.
    DEADLINE_FACTOR: '15',
    ACCESS_QUEUE_WAIT_MS: '10000',
    RPC_PORT: '0',
    PROBE_PORT: '0',
    SERVICE_PRIVATE_KEY: pem,
    SERVICE_PUBLIC_KEYS: keys.jwks,
    SESSION_ISSUER: sessions.issuer,
    SESSION_AUDIENCE: sessions.audience,
    SESSION_JWKS: sessions.jwks,
    RECEIPT_PRIVATE_KEY: pem,
    WEBHOOK_KEY,
    WEBHOOK_CONCURRENCY: '0',
    EGRESS_ALLOW_LOOPBACK: 'true',
    // A copied database is treated as replaced at the second check; no other instance is awaited.
    ...options.settings,
  };
  const log = createLogger({ service: 'consent', level: 'silent' });
  const start = (others: Pick<RunningServiceOptions, 'settings' | 'constants' | 'overrides'> = {}) => {
    const constants = { FAILOVER_GRACE_MS: 1, ...options.constants, ...others.constants };
    const config = { ...readEnvironment({ ...settings, ...others.settings }), ...constants };
    return createService(config, { log, ...others.overrides });
  };
  const service = resources.use(await start({ overrides: options.overrides ?? {} }));
  const openChannel = (caller: Caller, { rpcPort } = service) =>
    openRpcChannel({
      address: `127.0.0.1:${rpcPort}`,
      audience: 'consent',
      tokens: tokens[caller],
      deadlineMs: 15_000,
      ...(caller === OPERATOR && { metadata: { [REASON_METADATA]: 'a%20test' } }),
    });
  const channel = (caller: Caller) => resources.use(openChannel(caller));
  const [authorization, gateway, healthData, operator, reader, ender] = [
    channel('authorization'),
    channel('gateway'),
    channel('health-data'),
    channel(OPERATOR),
    channel(READER),
    channel(ENDER),
  ];
  const ledger = authorization.client(LedgerService);
  const revokeTokens = (
    revoked: NonNullable<MessageInitShape<typeof RevokeTokensRequestSchema>['revoked']>,
  ) => ledger.revokeTokens({ revoked, expiresAt: timestampFromMs(Date.now() + 3_600_000) });
  const asAuthorization = authorization.client(ConsentService);
  const asGateway = gateway.client(ConsentService);
  const history = gateway.client(AccessService);
  const sandbox = gateway.client(SandboxService);
  const acts = gateway.client(OperatorActService);
  const { approve, deny, extendPendingApproval } = asAuthorization;
  const ofPeople = { ...acts, ...sandbox, ...history, ...asGateway, approve, deny, extendPendingApproval };
  const session = async (userId: string, claims: SessionOverrides['claims'] = {}) => ({
    headers: { 'phds-session': await sessions.issueSession(userId, { claims }) },
  });
  const running = resources.move();
  return {
    service,
    database,
    /** Reads the database and changes its times, as its owner. */
    owner,
    /** The rows of a statement that the owner runs. */
    rows: async (statement: string, ...values: unknown[]) => (await owner.query(statement, values)).rows,
    receiptPublicKey: receipts.publicKey,
    /** The channel of a caller, to this instance or another one. */
    openChannel,
    /** The settings of commands that call it as the operator. */
    operatorSettings: {
      CONSENT_ADDRESS: `127.0.0.1:${service.rpcPort}`,
      OPERATOR_NAME: findOperator(OPERATOR) ?? '',
      SERVICE_PRIVATE_KEY: keys.pem(OPERATOR),
    },
    ledger,
    revokeFamily: (value: string) => revokeTokens({ case: 'familyId', value }),
    revokeToken: (value: Uint8Array) => revokeTokens({ case: 'tokenHash', value }),
    async checkLiveness(check: MessageInitShape<typeof LivenessCheckSchema>) {
      const { results } = await ledger.checkLivenesses({ checks: [check] });
      return results[0] as Liveness;
    },
    /** Opens and decides. */
    asAuthorization,
    asOperator: operator.client(ConsentService),
    restores: operator.client(RestoreService),
    /** Starts another instance on the same database with the same keys. */
    startAnother: start,
    /** Reads and revokes. */
    asGateway,
    records: healthData.client(AccessService),
    history,
    sandbox,
    sessions: gateway.client(SessionService),
    people: operator.client(PersonOperatorService),
    grants: {
      asReader: reader.client(GrantService),
      asEnder: ender.client(GrantService),
      asOperator: operator.client(GrantService),
    },
    recordsAsService: ender.client(AccessService),
    acts: {
      asOperator: operator.client(OperatorActService),
      asHealthData: healthData.client(OperatorActService),
      asGateway: acts,
    },
    /** Call options with a session of this user, and more claims in it. */
    session,
    /** The rpcs of a person, with a session of theirs. */
    as(userId: string) {
      const calls = Object.entries<(request: never, options: CallOptions) => Promise<unknown>>(ofPeople);
      const asPerson = calls.map(([rpc, call]) => [
        rpc,
        async (request: never) => call(request, await session(userId)),
      ]);
      return Object.fromEntries(asPerson) as typeof ofPeople;
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

export const HEART = 'read:health-data:heart';
export const GLUCOSE = 'read:health-data:glucose';
export const MOOD = 'read:mood';

/** Registers an active app. */
export async function registerApp(consent: RunningService, ownerId = newId('dev')) {
  const app = {
    clientId: newId('app'),
    name: 'Pulse Diary',
    ownerId,
    homepageUrl: 'https://pulse.test/',
    privacyPolicyUrl: 'https://pulse.test/privacy',
    updatedAt: timestampFromDate(new Date('2026-01-01T00:00:00Z')),
  };
  const { epoch } = await consent.ledger.putApp({ app });
  return { ...app, epoch };
}

export type RegisteredApp = Awaited<ReturnType<typeof registerApp>>;

/** Opens a pending approval of that app and returns its id. */
export async function openPending(
  consent: RunningService,
  app: RegisteredApp,
  scopes: string[] = [HEART, GLUCOSE],
  clientAuthenticated = true,
  more: { redirectHost?: string; purpose?: string } = {},
): Promise<string> {
  const id = newId('apr');
  await consent.asAuthorization.openPendingApproval({
    id,
    app,
    appEpoch: app.epoch,
    redirectHost: 'pulse.test',
    scopes,
    purpose: 'Draw your pulse.',
    clientAuthenticated,
    ...more,
  });
  return id;
}

interface ApprovalOptions {
  readonly requested?: string[];
  readonly approved?: string[];
  readonly days?: number;
  readonly dataFrom?: string;
}

/** Creates a grant of that user to that app. */
export async function approve(
  consent: RunningService,
  app: RegisteredApp,
  userId: string,
  { requested = [HEART, GLUCOSE], approved = requested, days = 0, dataFrom = '' }: ApprovalOptions = {},
) {
  const id = await openPending(consent, app, requested);
  return consent.asAuthorization.approve(
    { id, scopes: approved, expiresInDays: days, dataFrom },
    await consent.session(userId),
  );
}

/** An access as health-data reports it, with a token valid for another hour. */
export function accessOf(grant: { grantId: string; clientId: string; userId: string }) {
  return {
    ...grant,
    familyId: newId('fam'),
    tokenHash: createHash('sha256').update(randomBytes(16)).digest(),
    tokenExpiresAt: Math.floor(Date.now() / 1000) + 3_600,
    scope: HEART,
    endpoint: '/api/v1/health-data/heart',
    from: '2026-01-01',
    to: '',
    page: 1,
    recordCount: 20,
    requestId: newId('req'),
    dataFrom: '',
  };
}

/** Records one access and returns its verdict. */
export async function record(
  consent: RunningService,
  access: ReturnType<typeof accessOf>,
): Promise<Verdict | undefined> {
  const { verdicts } = await consent.records.recordAccess({ accesses: [access] });
  return verdicts[0];
}
