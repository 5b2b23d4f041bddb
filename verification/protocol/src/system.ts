import { randomBytes } from 'node:crypto';
import { AppService } from '@phds/contracts/phds/authorization/v1/apps_pb';
import { AuthorizationService } from '@phds/contracts/phds/authorization/v1/authorization_pb';
import { TokenService } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { AccessService } from '@phds/contracts/phds/consent/v1/access_pb';
import { ConsentService } from '@phds/contracts/phds/consent/v1/consent_pb';
import { createLogger } from '@phds/service-kit/log';
import { SESSION_METADATA } from '@phds/service-kit/metadata-keys';
import { openRpcChannel } from '@phds/service-kit/rpc-client';
import { createServiceTokenSource } from '@phds/service-kit/service-token';
import { createTestDatabase } from '@phds/test-kit/databases';
import { createServiceKeys, type ServiceKeys } from '@phds/test-kit/service-keys';
import { createSessionIssuer, type SessionIssuer } from '@phds/test-kit/session-issuer';
import { openTestPool } from '@phds/test-kit/test-pool';
import { readEnvironment as readAuthorizationConfig } from '../../../services/authorization/src/config.ts';
import { createService as createAuthorization } from '../../../services/authorization/src/service.ts';
import { readEnvironment as readConsentConfig } from '../../../services/consent/src/config.ts';
import { createService as createConsent } from '../../../services/consent/src/service.ts';
import type { BrokenVariant, Surroundings } from './broken-variant.ts';
import { Network, type Stopped, withPositions } from './disturbances.ts';

/** Controls of a history over the services. */
interface Control extends Surroundings {
  readonly network: Network;
  /** Null for the unmodified system. */
  variant: BrokenVariant | null;
  /** The one stopped request, in the second instance of consent. */
  stopped: Stopped | null;
  /** When the insert of each request's record was sent to the database. */
  readonly insertedAt: Map<string, number>;
  /** A strictly increasing number, which orders events. */
  tick(): number;
}

/**
 * The real authorization service and two instances of the real consent service in this process, on test databases and connected by
 * rpc. One history is replayed at a time.
 */
export type System = Awaited<ReturnType<typeof startSystem>>;

export async function startSystem() {
  await using resources = new AsyncDisposableStack();
  const consent = await openDatabase('consent', resources);
  const authorization = await openDatabase('authorization', resources);
  const control = createControl({ consent: consent.owner, authorization: authorization.owner });
  const { clock } = control;
  const keys = createServiceKeys(['gateway', 'health-data', 'authorization', 'consent']);
  const sessions = await createSessionIssuer({ clock });
  const settings = toSettings('consent', consent.url, keys, sessions);
  const first = resources.use(await startConsent(settings, control, () => undefined));
  const second = resources.use(await startConsent(settings, control, (at) => control.stopped?.pass(at)));
  const third = resources.use(
    await startAuthorization(
      {
        ...toSettings('authorization', authorization.url, keys, sessions),
        CONSENT_ADDRESS: `127.0.0.1:${first.rpcPort}`,
      },
      control,
    ),
  );
  const open = (caller: string, audience: string, { rpcPort }: { rpcPort: number }) => {
    const tokens = createServiceTokenSource({ service: caller, privateKeyPem: keys.pem(caller), clock });
    const address = `127.0.0.1:${rpcPort}`;
    return resources.use(openRpcChannel({ address, audience, tokens, deadlineMs: 30_000 }));
  };
  const toAuthorization = open('gateway', 'authorization', third);
  const clients = {
    apps: toAuthorization.client(AppService),
    authorizations: toAuthorization.client(AuthorizationService),
    tokens: toAuthorization.client(TokenService),
    grants: open('gateway', 'consent', first).client(ConsentService),
    records: open('health-data', 'consent', first).client(AccessService),
    /** The instance in which a request can be stopped. */
    stoppedRecords: open('health-data', 'consent', second).client(AccessService),
  };
  const running = resources.move();
  return {
    ...clients,
    control,
    /** Call options with a session of this user. */
    session: async (userId: string) => ({
      headers: { [SESSION_METADATA]: await sessions.issueSession(userId) },
    }),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** Settings of both services; each ignores those of the other. */
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
    // Histories shift the clocks of the services by hours, and a stopped request waits for other steps.
    ACCESS_CLOCK_TOLERANCE_MS: '86400000',
    ACCESS_QUEUE_WAIT_MS: '30000',
    ASSERTION_PRIVATE_KEY: pem,
    DERIVATION_KEY: randomBytes(32).toString('base64'),
    ISSUER: 'https://phds.test',
    CONSENT_DEADLINE_MS: '10000',
  };
}

function createControl(databases: Surroundings['databases']): Control {
  let ticks = 0;
  return {
    databases,
    clock: {
      aheadMs: 0,
      now() {
        return new Date(Date.now() + this.aheadMs);
      },
    },
    network: new Network(),
    variant: null,
    stopped: null,
    insertedAt: new Map(),
    tick() {
      ticks += 1;
      return ticks;
    },
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
      const noteInsert = (requestIds: readonly string[]) => {
        const at = control.tick();
        for (const requestId of requestIds) control.insertedAt.set(requestId, at);
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
    consent: ({ ledger, approvals }) => {
      const carried = control.network.carry(ledger);
      return {
        ledger: vary(control, carried, (variant) => variant.ledger?.(carried, control)),
        approvals: control.network.carry(approvals),
      };
    },
  });
}

/** The port, or its modification by the current variant. */
function vary<Port extends object>(
  control: Control,
  real: Port,
  make: (variant: BrokenVariant) => Partial<Port> | undefined,
): Port {
  let variant: BrokenVariant | null = null;
  let present = real;
  return new Proxy(real, {
    get(_target, name) {
      if (control.variant !== variant) {
        variant = control.variant;
        present = { ...real, ...(variant && make(variant)) };
      }
      return Reflect.get(present, name);
    },
  });
}
