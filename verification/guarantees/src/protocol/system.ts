import { randomBytes } from 'node:crypto';
import type { DescMessage } from '@bufbuild/protobuf';
import { AppService } from '@phds/contracts/phds/authorization/v1/apps_pb';
import { AuthorizationService } from '@phds/contracts/phds/authorization/v1/authorization_pb';
import { TokenService } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { AccessService } from '@phds/contracts/phds/consent/v1/access_pb';
import { ConsentService } from '@phds/contracts/phds/consent/v1/consent_pb';
import { HealthDataService } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import type { CallStream } from '@phds/service-kit/rpc/call-stream';
import {
  type CallStreams,
  type CallStreamsOptions,
  openCallStreams,
} from '@phds/service-kit/rpc/call-streams';
import { openRpcChannel, type RpcChannelOptions } from '@phds/service-kit/rpc/client';
import { SESSION_METADATA } from '@phds/service-kit/rpc/context';
import { createLogger } from '@phds/service-kit/telemetry/log';
import { createAssertionSigner } from '@phds/service-kit/trust/access-assertion';
import { createServiceTokenSource } from '@phds/service-kit/trust/service-token';
import { eventually } from '@phds/test-kit/conditions';
import { createTestDatabase } from '@phds/test-kit/databases';
import { createServiceKeys, type ServiceKeys } from '@phds/test-kit/service-keys';
import { createSessionIssuer, type SessionIssuer } from '@phds/test-kit/session-issuer';
import { openTestPool } from '@phds/test-kit/test-pool';
import { readEnvironment as readAuthorizationConfig } from '../../../../services/authorization/src/config.ts';
import { createService as createAuthorization } from '../../../../services/authorization/src/service.ts';
import { readEnvironment as readConsentConfig } from '../../../../services/consent/src/config.ts';
import { createService as createConsent } from '../../../../services/consent/src/service.ts';
import { createBatchedReads, type ReadData } from '../../../../services/gateway/src/clients/batched-reads.ts';
import { createRpcAccessLog } from '../../../../services/health-data/src/clients/rpc-access-log.ts';
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
    DATABASE_CONNECT_TIMEOUT_MS: '30000',
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
    consent: ({ ledger, approvals, grants, ...others }) => {
      const carried = control.network.carry(ledger);
      return {
        ledger: vary(control, carried, (variant) => variant.ledger?.(carried, control)),
        approvals: control.network.carry(approvals),
        grants: control.network.carry(grants),
        ...others,
      };
    },
  });
}

/** The real streams between two services, which a history can lose. */
class LosableStreams<I extends DescMessage, O extends DescMessage> implements CallStreams<I, O> {
  readonly #options: CallStreamsOptions<I, O>;
  #streams: CallStreams<I, O>;

  constructor(options: Omit<CallStreamsOptions<I, O>, 'onFailure'>) {
    this.#options = { ...options, onFailure: () => undefined };
    this.#streams = openCallStreams(this.#options);
  }

  get open(): readonly CallStream<I, O>[] {
    return this.#streams.open;
  }

  /** Ends the streams at once, with every call on them, and opens others. */
  async lose(): Promise<void> {
    this[Symbol.dispose]();
    this.#streams = openCallStreams(this.#options);
    await eventually(() => this.open.length > 0);
  }

  /** Opens streams if there are none, as after a change of the clocks, which ends the token of a stream. */
  async ready(): Promise<void> {
    if (this.open.length === 0) await this.lose();
  }

  [Symbol.dispose](): void {
    this.#streams[Symbol.dispose]();
  }
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

/** The path of reads: the gateway's batches, an instance of the real health-data, and the streams from one service to the next. */
export interface DataPath extends AsyncDisposable {
  readonly readData: ReadData;
  /** Loses the streams of a link, with the batches on them. */
  lose(link: Link): Promise<void>;
  /** Waits until reads and records travel over streams. */
  ready(): Promise<void>;
}

async function startDataPath(options: DataPathOptions): Promise<DataPath> {
  await using resources = new AsyncDisposableStack();
  const records = resources.use(openRecords(options));
  const { control, settings } = options;
  const healthData = resources.use(
    await createService(readEnvironment(settings), {
      clock: control.clock,
      log: createLogger({ service: 'health-data', level: 'silent' }),
      accessLog: records.accessLog,
    }),
  );
  const reads = resources.use(openReads(control, options.toHealthData(healthData)));
  const links = { reads: reads.streams, records: records.streams };
  const running = resources.move();
  return {
    readData: reads.readData,
    lose: (link) => links[link].lose(),
    ready: async () => {
      for (const streams of Object.values(links)) await streams.ready();
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** From the gateway to health-data. */
function openReads(control: Control, to: Destination) {
  const { read: carried, reads: method } = HealthDataService.method;
  const channel = openRpcChannel({ ...to, deadlineMs: DEADLINE_MS });
  const streams = new LosableStreams({ ...to, method, carried });
  const varied = {
    get open() {
      const mistake = control.variant?.sendReads;
      if (mistake === undefined) return streams.open;
      return streams.open.map((stream) => ({
        load: stream.load,
        sentAt: stream.sentAt,
        silentMs: stream.silentMs,
        send: mistake((calls) => stream.send(calls)),
      }));
    },
  };
  const healthData = channel.client(HealthDataService);
  return {
    streams,
    readData: createBatchedReads({ healthData, streams: varied, deadlineMs: DEADLINE_MS }),
    [Symbol.dispose]: () => disposeBoth(streams, channel),
  };
}

/** From health-data to consent. */
function openRecords({ control, consent: to, stops }: DataPathOptions) {
  const { recordAccess: carried, recordAccesses: method } = AccessService.method;
  const channel = openRpcChannel({ ...to, deadlineMs: DEADLINE_MS });
  const streams = new LosableStreams({ ...to, method, carried });
  const consent = channel.client(AccessService);
  const record = createRpcAccessLog({ consent, streams, deadlineMs: DEADLINE_MS });
  const real: typeof record = async (accesses) => {
    const verdicts = await record(accesses);
    return stops && control.stopped !== null ? control.stopped.receive(verdicts) : verdicts;
  };
  const varied = vary(control, { real }, ({ accessLog }) => accessLog && { real: accessLog(real) });
  return {
    streams,
    accessLog: (accesses: Parameters<typeof record>[0]) => varied.real(accesses),
    [Symbol.dispose]: () => disposeBoth(streams, channel),
  };
}

function disposeBoth(streams: Disposable, channel: Disposable): void {
  streams[Symbol.dispose]();
  channel[Symbol.dispose]();
}
