import { randomBytes } from 'node:crypto';
import { AppService } from '@phds/contracts/phds/authorization/v1/apps_pb';
import { AuthorizationService } from '@phds/contracts/phds/authorization/v1/authorization_pb';
import { TokenService } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { ConsentService } from '@phds/contracts/phds/consent/v1/consent_pb';
import { openRpcChannel } from '@phds/service-kit/rpc/client';
import { SESSION_METADATA } from '@phds/service-kit/rpc/metadata-keys';
import { createLogger } from '@phds/service-kit/telemetry/log';
import { createAssertionSigner } from '@phds/service-kit/trust/access-assertion';
import { createServiceTokenSource } from '@phds/service-kit/trust/service-token';
import { createTestDatabase } from '@phds/test-kit/databases';
import { createServiceKeys, type ServiceKeys } from '@phds/test-kit/service-keys';
import { createSessionIssuer, type SessionIssuer } from '@phds/test-kit/session-issuer';
import { openTestPool } from '@phds/test-kit/test-pool';
import { readEnvironment as readAuthorizationConfig } from '../../../services/authorization/src/config.ts';
import { createService as createAuthorization } from '../../../services/authorization/src/service.ts';
import { readEnvironment as readConsentConfig } from '../../../services/consent/src/config.ts';
import { createService as createConsent } from '../../../services/consent/src/service.ts';
import { type Control, createControl, vary } from './control.ts';
import { type Destination, startDataPath } from './data-path.ts';
import { withPositions } from './disturbances.ts';

/**
 * The real authorization service, two instances of the real consent and health-data, and the gateway's client in this process, on
 * test databases and connected by rpc. One history is replayed at a time.
 */
export type System = Awaited<ReturnType<typeof startSystem>>;

export async function startSystem() {
  await using resources = new AsyncDisposableStack();
  const consent = await openDatabase('consent', resources);
  const authorization = await openDatabase('authorization', resources);
  const healthData = await openDatabase('health-data', resources);
  const control = createControl({ consent: consent.owner, authorization: authorization.owner });
  const { clock } = control;
  const keys = createServiceKeys(['gateway', 'health-data', 'authorization', 'consent']);
  const sessions = await createSessionIssuer({ clock });
  const settings = toSettings('consent', consent.url, keys, sessions);
  const first = resources.use(await startConsent(settings, control, () => undefined));
  const second = resources.use(await startConsent(settings, control, (at) => control.stopped?.pass(at)));
  const authorizationSettings = {
    ...toSettings('authorization', authorization.url, keys, sessions),
    DEVELOPERS: 'anyone',
    APP_APPROVAL: 'none',
    CONSENT_ADDRESS: `127.0.0.1:${first.rpcPort}`,
  };
  const third = resources.use(await startAuthorization(authorizationSettings, control));
  const asGateway = createDestinations('gateway', keys, clock);
  const asHealthData = createDestinations('health-data', keys, clock);
  const pathSettings = toSettings('health-data', healthData.url, keys, sessions);
  const startPath = (to: Running, stops: boolean) =>
    startDataPath({
      control,
      settings: pathSettings,
      consent: asHealthData('consent', to),
      toHealthData: (server) => asGateway('health-data', server),
      stops,
    });
  const path = resources.use(await startPath(first, false));
  const stoppedPath = resources.use(await startPath(second, true));
  const clients = openClients(asGateway('authorization', third), asGateway('consent', first), resources);
  const running = resources.move();
  return {
    ...clients,
    path,
    /** The path on which a batch can be stopped. */
    stoppedPath,
    control,
    signAssertion: createAssertionSigner({ privateKeyPem: keys.pem('authorization'), clock }),
    /** Call options with a session of this user. */
    session: async (userId: string) => ({
      headers: { [SESSION_METADATA]: await sessions.issueSession(userId) },
    }),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

function openClients(authorization: Destination, consent: Destination, resources: AsyncDisposableStack) {
  const open = (to: Destination) => resources.use(openRpcChannel({ ...to, deadlineMs: 30_000 }));
  const toAuthorization = open(authorization);
  return {
    apps: toAuthorization.client(AppService),
    authorizations: toAuthorization.client(AuthorizationService),
    tokens: toAuthorization.client(TokenService),
    grants: open(consent).client(ConsentService),
  };
}

interface Running {
  readonly rpcPort: number;
}

/** How a caller reaches the services. */
function createDestinations(caller: string, keys: ServiceKeys, clock: Control['clock']) {
  const tokens = createServiceTokenSource({ service: caller, privateKeyPem: keys.pem(caller), clock });
  return (audience: string, { rpcPort }: Running): Destination => ({
    address: `127.0.0.1:${rpcPort}`,
    audience,
    tokens,
  });
}

/** Settings of all services; each ignores those of the others. */
function toSettings(service: string, databaseUrl: string, keys: ServiceKeys, sessions: SessionIssuer) {
  const pem = keys.pem(service);
  return {
    DATABASE_URL: databaseUrl,
    DATABASE_CONNECT_TIMEOUT_MS: '30000',
    RPC_PORT: '0',
    PROBE_PORT: '0',
    CONNECT_PORT: '0',
    SERVICE_PRIVATE_KEY: pem,
    SERVICE_PUBLIC_KEYS: keys.jwks,
    SESSION_ISSUER: sessions.issuer,
    SESSION_AUDIENCE: sessions.audience,
    SESSION_JWKS: sessions.jwks,
    RECEIPT_PRIVATE_KEY: pem,
    WEBHOOK_KEY: randomBytes(32).toString('base64'),
    // Histories shift the clocks of the services by hours, and a stopped batch waits for other steps.
    ACCESS_CLOCK_TOLERANCE_MS: '86400000',
    ACCESS_QUEUE_WAIT_MS: '30000',
    ACCESS_WAIT_MS: '30000',
    ASSERTION_PRIVATE_KEY: pem,
    ASSERTION_PUBLIC_KEYS: keys.jwks,
    PUBLIC_ID_KEY: randomBytes(32).toString('base64'),
    DERIVATION_KEY: randomBytes(32).toString('base64'),
    ISSUER: 'https://phds.test',
    CONSENT_DEADLINE_MS: '10000',
  };
}

async function openDatabase(service: string, resources: AsyncDisposableStack) {
  const { url, ownerUrl, schema } = resources.use(await createTestDatabase(service));
  const pool = openTestPool(ownerUrl, { max: 2, options: `-c search_path=${schema}` });
  return { url, owner: resources.adopt(pool, () => pool.end()) };
}

function startConsent(
  settings: Record<string, string>,
  control: Control,
  pass: Parameters<typeof withPositions>[1],
) {
  return createConsent(readConsentConfig(settings), {
    clock: control.clock,
    log: createLogger({ service: 'consent', level: 'silent' }),
    accessRecords: (real) => {
      const noteInsert = (ids: readonly Uint8Array[]) => {
        const at = control.tick();
        for (const id of ids) control.insertedAt.set(Buffer.from(id).toString('hex'), at);
      };
      const positioned = withPositions(real, pass, noteInsert);
      return vary(control, positioned, (variant) => variant.accessRecords?.(positioned));
    },
  });
}

function startAuthorization(settings: Record<string, string>, control: Control) {
  return createAuthorization(readAuthorizationConfig(settings), {
    clock: control.clock,
    log: createLogger({ service: 'authorization', level: 'silent' }),
    consent: ({ ledger, approvals, grants, sandboxApprovals }) => {
      const carried = control.network.carry(ledger);
      return {
        ledger: vary(control, carried, (variant) => variant.ledger?.(carried, control)),
        approvals: control.network.carry(approvals),
        grants: control.network.carry(grants),
        sandboxApprovals,
      };
    },
  });
}
