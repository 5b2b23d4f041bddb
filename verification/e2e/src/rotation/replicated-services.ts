import { randomBytes } from 'node:crypto';
import type { RunningService } from '@phds/service-kit/lifecycle';
import { createLogger, type Logger } from '@phds/service-kit/telemetry/log';
import { startTcpProxy, type TcpProxy } from '@phds/test-kit/tcp-proxy';
import * as authorizationConfig from '../../../../services/authorization/src/config.ts';
import * as authorization from '../../../../services/authorization/src/service.ts';
import * as consentConfig from '../../../../services/consent/src/config.ts';
import * as consent from '../../../../services/consent/src/service.ts';
import * as gatewayConfig from '../../../../services/gateway/src/config.ts';
import * as gateway from '../../../../services/gateway/src/service.ts';
import * as healthDataConfig from '../../../../services/health-data/src/config.ts';
import * as healthData from '../../../../services/health-data/src/service.ts';

type Settings = Readonly<Record<string, string>>;
type Start = (settings: Settings, log: Logger) => Promise<RunningService>;

const START = {
  consent: (settings, log) => consent.createService(consentConfig.readEnvironment(settings), { log }),
  authorization: (settings, log) =>
    authorization.createService(authorizationConfig.readEnvironment(settings), { log }),
  'health-data': (settings, log) =>
    healthData.createService(healthDataConfig.readEnvironment(settings), { log }),
  gateway: (settings, log) => {
    const config = gatewayConfig.readEnvironment(settings);
    // Gateways soon ask authorization again, which signs a new assertion.
    return gateway.createService({ ...config, CACHE_TTL_MS: 200 }, { log });
  },
} satisfies Record<string, Start>;

export type ServiceName = keyof typeof START;

/** In the order of a release: callees first. */
export const SERVICES = Object.keys(START) as ServiceName[];

/** Longer than a busy machine delays an answer. */
const PATIENT_MS = '20000';

type Running = Awaited<ReturnType<(typeof START)[ServiceName]>>;

interface Replica {
  /** Its address for callers, which leads to the process that was started last. */
  readonly proxy: TcpProxy;
  running: Running | null;
}

type Replicas = Readonly<Record<ServiceName, readonly [Replica, Replica]>>;

/** Two replicas of each service in this process. Callers know both addresses, which never change. */
export class ReplicatedServices implements AsyncDisposable {
  readonly #replicas: Replicas;
  readonly #settings: (service: ServiceName) => Settings;
  readonly #shared: Settings;
  /** What the services logged as errors. */
  readonly errors: string[] = [];
  /** What they logged as warnings, among them why they answered 503. */
  readonly warnings: string[] = [];

  private constructor(replicas: Replicas, settings: (service: ServiceName) => Settings) {
    this.#replicas = replicas;
    this.#settings = settings;
    this.#shared = toSharedSettings(replicas);
  }

  /** Starts everything. `settings` are asked for at each start of a replica. */
  static async start(settings: (service: ServiceName) => Settings): Promise<ReplicatedServices> {
    const pairs = SERVICES.map(
      async (service) => [service, [await newReplica(), await newReplica()]] as const,
    );
    const services = new ReplicatedServices(
      Object.fromEntries(await Promise.all(pairs)) as unknown as Replicas,
      settings,
    );
    for (const service of SERVICES) {
      for (const replica of services.#replicas[service]) await services.#start(service, replica);
    }
    return services;
  }

  /** Base URLs of the gateways. */
  get gateways(): string[] {
    return this.#replicas.gateway.map(({ proxy }) => `http://127.0.0.1:${proxy.port}`);
  }

  /** `host:port` of the gRPC ports of a service. */
  addresses(service: ServiceName): string[] {
    return this.#replicas[service].map(({ proxy }) => `127.0.0.1:${proxy.port}`);
  }

  /**
   * Replaces one replica after the other by one with the present settings, as a rolling update does: the new one serves before the old
   * one leaves. So no caller ever meets a closed port; it would wait up to a second before it connects again, while the next replica may
   * already leave. `settled` waits until callers use the new one.
   */
  async restart(service: ServiceName, settled: () => Promise<void>): Promise<void> {
    for (const replica of this.#replicas[service]) {
      const { running } = replica;
      await this.#start(service, replica);
      running?.leave();
      await running?.[Symbol.asyncDispose]();
      await settled();
    }
  }

  async #start(service: ServiceName, replica: Replica): Promise<void> {
    const destination = { write: (line: string) => void this.#listOf(line).push(line) };
    const log = createLogger({ service, level: 'warn', destination });
    const ports = { PORT: '0', RPC_PORT: '0', PROBE_PORT: '0' };
    const running = await START[service]({ ...this.#shared, ...this.#settings(service), ...ports }, log);
    replica.running = running;
    replica.proxy.redirect('rpcPort' in running ? running.rpcPort : running.port);
  }

  #listOf(line: string): string[] {
    return JSON.parse(line).level === 'warn' ? this.warnings : this.errors;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const service of SERVICES.toReversed()) {
      await Promise.all(this.#replicas[service].map(({ running }) => running?.[Symbol.asyncDispose]()));
      await Promise.all(this.#replicas[service].map(({ proxy }) => proxy[Symbol.asyncDispose]()));
    }
  }
}

async function newReplica(): Promise<Replica> {
  // Nobody connects before the first start, which redirects it.
  return { proxy: await startTcpProxy('tcp://127.0.0.1:1'), running: null };
}

/** Settings that are the same everywhere and always; each service ignores those of the others. */
function toSharedSettings(replicas: Replicas): Settings {
  const addressOf = (service: ServiceName) =>
    `ipv4:${replicas[service].map(({ proxy }) => `127.0.0.1:${proxy.port}`).join(',')}`;
  const publicUrl = `http://127.0.0.1:${replicas.gateway[0].proxy.port}`;
  const secret = () => randomBytes(32).toString('base64');
  return {
    AUTHORIZATION_ADDRESS: addressOf('authorization'),
    CONSENT_ADDRESS: addressOf('consent'),
    HEALTH_DATA_ADDRESS: addressOf('health-data'),
    PUBLIC_URL: publicUrl,
    ISSUER: publicUrl,
    SESSION_ISSUER: 'https://id.test',
    SESSION_AUDIENCE: 'phds',
    DERIVATION_KEY: secret(),
    PUBLIC_ID_KEY: secret(),
    WEBHOOK_KEY: secret(),
    DEADLINE_FACTOR: '10',
    ACCESS_QUEUE_WAIT_MS: PATIENT_MS,
    DATABASE_POOL_SIZE: '4',
    REDIS_COMMAND_TIMEOUT_MS: PATIENT_MS,
    DEVELOPERS: 'anyone',
    APP_APPROVAL: 'none',
    LIMITS: 'app-user=1000000,app=1000000,client=1000000,user=1000000',
  };
}
