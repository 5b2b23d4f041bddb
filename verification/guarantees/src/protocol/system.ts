import { randomBytes } from 'node:crypto';
import type { CallOptions } from '@connectrpc/connect';
import { status } from '@grpc/grpc-js';
import { AppService } from '@phds/contracts/phds/authorization/v1/apps_pb';
import { AuthorizationService } from '@phds/contracts/phds/authorization/v1/authorization_pb';
import { TokenService } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { AccessService } from '@phds/contracts/phds/consent/v1/access_pb';
import { ConsentService } from '@phds/contracts/phds/consent/v1/consent_pb';
import { HealthDataService } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { unavailable } from '@phds/service-kit/errors';
import { openRpcChannel, type RpcChannelOptions } from '@phds/service-kit/rpc/client';
import { SESSION_METADATA } from '@phds/service-kit/rpc/context';
import { createLogger } from '@phds/service-kit/telemetry/log';
import { createAssertionSigner } from '@phds/service-kit/trust/access-assertion';
import { createServiceTokenSource } from '@phds/service-kit/trust/callers';
import { createTestDatabase } from '@phds/test-kit/databases';
import { createServiceKeys, type ServiceKeys } from '@phds/test-kit/service-keys';
import { createSessionIssuer, type SessionIssuer } from '@phds/test-kit/session-issuer';
import { openTestPool } from '@phds/test-kit/test-pool';
import { readEnvironment as readAuthorizationConfig } from '../../../../services/authorization/src/config.ts';
import { createService as createAuthorization } from '../../../../services/authorization/src/service.ts';
import { readEnvironment as readConsentConfig } from '../../../../services/consent/src/config.ts';
import { createService as createConsent } from '../../../../services/consent/src/service.ts';
import { createBatchedReads, type ReadData } from '../../../../services/gateway/src/clients/batched-calls.ts';
import type { SendAccesses } from '../../../../services/health-data/src/clients/consent-connection.ts';
import { readEnvironment } from '../../../../services/health-data/src/config.ts';
import { createService } from '../../../../services/health-data/src/service.ts';
import { Network, type Stopped, withPositions } from './disturbances.ts';
import type { Link } from './history.ts';
import type { BrokenVariant, Surroundings } from './variants.ts';

/** Controls of a history over the services. */
interface Control extends Surroundings {
  readonly network: Network;
  /** Null for the unmodified system. */
  variant: BrokenVariant | null;
  /** The one stopped batch, on the second path. */
  stopped: Stopped | null;
  /** When the insert of each record was sent to the database, by the record's id in hexadecimal digits. */
  readonly insertedAt: Map<string, number>;
  /** A strictly increasing number, which orders events. */
  tick(): number;
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
    RPC_PORT: '0',
    PROBE_PORT: '0',
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
    ASSERTION_PRIVATE_KEY: pem,
    ASSERTION_PUBLIC_KEYS: keys.jwks,
    PUBLIC_ID_KEY: randomBytes(32).toString('base64'),
    DERIVATION_KEY: randomBytes(32).toString('base64'),
    ISSUER: 'https://phds.test',
    DEADLINE_FACTOR: '20',
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
    accessStatements: (real) => {
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
    consent: ({ ledger, consent, ...others }) => {
      const carried = control.network.carry(ledger);
      return {
        ledger: vary(control, carried, (variant) => variant.ledger?.(carried, control)),
        consent: control.network.carry(consent),
        ...others,
      };
    },
  });
}

/** The connection between two services, which a history can lose. */
class Connection {
  #loss = new AbortController();

  /** Ends the calls in flight at once. */
  lose(): void {
    this.#loss.abort();
    this.#loss = new AbortController();
  }

  carry<Request, Response>(rpc: (request: Request, options?: CallOptions) => Promise<Response>) {
    return async (request: Request, options?: CallOptions): Promise<Response> => {
      const { signal } = this.#loss;
      return rpc(request, { ...options, signal }).catch((error: unknown) => {
        throw signal.aborted ? unavailable(new ConnectionLost()) : error;
      });
    };
  }
}

/** The error of grpc-js for a call whose connection ended. */
class ConnectionLost extends Error {
  readonly code = status.UNAVAILABLE;
}

/** Longer than a batch is stopped. */
const DEADLINE_MS = 30_000;

/** Where and as whom to call a service. */
type Destination = Pick<RpcChannelOptions, 'address' | 'audience' | 'tokens'>;

interface DataPathOptions {
  readonly control: Control;
  /** Settings of health-data. */
  readonly settings: Record<string, string>;
  /** The instance of consent, called as health-data. */
  readonly consent: Destination;
  /** The started instance of health-data, called as the gateway. */
  readonly toHealthData: (server: { readonly rpcPort: number }) => Destination;
  /** Whether batches can be stopped here. */
  readonly stops: boolean;
}

/** The path of reads: the gateway's batches, an instance of the real health-data, and the connections from one service to the next. */
export interface DataPath extends AsyncDisposable {
  readonly readData: ReadData;
  /** Loses the connection of a link, with the batches on it. */
  lose(link: Link): void;
}

async function startDataPath(options: DataPathOptions): Promise<DataPath> {
  await using resources = new AsyncDisposableStack();
  const records = openRecords(options, resources);
  const { control, settings } = options;
  const healthData = resources.use(
    await createService(readEnvironment(settings), {
      clock: control.clock,
      log: createLogger({ service: 'health-data', level: 'silent' }),
      sendAccesses: records.sendAccesses,
    }),
  );
  const reads = openReads(control, options.toHealthData(healthData), resources);
  const links = { reads: reads.connection, records: records.connection };
  const running = resources.move();
  return {
    readData: reads.readData,
    lose: (link) => links[link].lose(),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** From the gateway to health-data. */
function openReads(control: Control, to: Destination, resources: AsyncDisposableStack) {
  const channel = resources.use(openRpcChannel({ ...to, deadlineMs: DEADLINE_MS }));
  const { read, reads } = channel.client(HealthDataService);
  const connection = new Connection();
  const real = { reads: connection.carry(reads) };
  const varied = vary(control, real, ({ sendReads }) => sendReads && { reads: sendReads(real.reads) });
  const rpcs = { read, reads: (...call: Parameters<typeof reads>) => varied.reads(...call) };
  return { connection, readData: createBatchedReads(rpcs, DEADLINE_MS) };
}

/** From health-data to consent. */
function openRecords({ control, consent: to, stops }: DataPathOptions, resources: AsyncDisposableStack) {
  const channel = resources.use(openRpcChannel({ ...to, deadlineMs: DEADLINE_MS }));
  const connection = new Connection();
  const record = connection.carry(channel.client(AccessService).recordAccess);
  const real: SendAccesses = async (accesses) => {
    const { verdicts } = await record({ accesses: [...accesses] });
    return stops && control.stopped !== null ? control.stopped.receive(verdicts) : verdicts;
  };
  const varied = vary(control, { real }, ({ sendAccesses }) => sendAccesses && { real: sendAccesses(real) });
  return { connection, sendAccesses: (accesses: Parameters<SendAccesses>[0]) => varied.real(accesses) };
}
