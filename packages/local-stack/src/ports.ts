import { DATABASE_SERVICES, type DatabaseService } from '@phds/service-kit/keys/key-files';
import { isFree, leasePort } from './servers/leased-ports.ts';

/** The ports of the services with a database: gRPC, Connect and probes. */
const KINDS = ['rpc', 'connect', 'probe'] as const;
type Kind = (typeof KINDS)[number];

/** TCP ports of a stack. All of them listen on the loopback interface only. */
export interface StackPorts extends Readonly<Record<Kind, Readonly<Record<DatabaseService, number>>>> {
  readonly gateways: readonly number[];
  /** One for each gateway. */
  readonly gatewayProbes: readonly number[];
  readonly identityProvider: number;
  readonly postgres: number;
  readonly redis: number;
}

/** By the variables that change them. Further gateways follow the first one. */
const DEFAULTS: Readonly<Record<string, number>> = {
  GATEWAY_PORT: 8080,
  GATEWAY_PROBE_PORT: 7100,
  IDENTITY_PROVIDER_PORT: 8090,
  AUTHORIZATION_RPC_PORT: 7001,
  CONSENT_RPC_PORT: 7002,
  HEALTH_DATA_RPC_PORT: 7003,
  AUTHORIZATION_CONNECT_PORT: 7201,
  CONSENT_CONNECT_PORT: 7202,
  HEALTH_DATA_CONNECT_PORT: 7203,
  AUTHORIZATION_PROBE_PORT: 7101,
  CONSENT_PROBE_PORT: 7102,
  HEALTH_DATA_PROBE_PORT: 7103,
  POSTGRES_PORT: 7432,
  REDIS_PORT: 6380,
};

/** The ports between those are of the other services. */
const GATEWAY_PROBE_STEP = 10;

function toVariable(service: DatabaseService, kind: Kind): string {
  return `${service.replace('-', '_')}_${kind}_port`.toUpperCase();
}

/** A port with the variable that changes it. */
interface NamedPort {
  readonly port: number;
  readonly variable: string;
}

function toPorts(
  gateways: readonly number[],
  gatewayProbes: readonly number[],
  find: (variable: string) => number,
): StackPorts {
  const ofServices = (kind: Kind) =>
    Object.fromEntries(DATABASE_SERVICES.map((service) => [service, find(toVariable(service, kind))]));
  return {
    gateways,
    gatewayProbes,
    ...(Object.fromEntries(KINDS.map((kind) => [kind, ofServices(kind)])) as Pick<StackPorts, Kind>),
    identityProvider: find('IDENTITY_PROVIDER_PORT'),
    postgres: find('POSTGRES_PORT'),
    redis: find('REDIS_PORT'),
  };
}

/**
 * The default ports, changed by environment variables. Gateways use consecutive ports, and every tenth for
 * probes. Throws an error that names an invalid variable.
 */
export function parsePorts(env: NodeJS.ProcessEnv, gateways: number): StackPorts {
  const find = (variable: string) => parsePort(variable, env[variable]);
  const from = (variable: string, step: number) =>
    Array.from({ length: gateways }, (_, index) => find(variable) + step * index);
  const ports = toPorts(from('GATEWAY_PORT', 1), from('GATEWAY_PROBE_PORT', GATEWAY_PROBE_STEP), find);
  refuseDuplicates(toNamedPorts(ports));
  return ports;
}

/** Ports that belong to this process while it lives. */
export async function findRandomPorts(gateways: number): Promise<StackPorts> {
  const found: number[] = [];
  // The first gateway's two are among the defaults.
  while (found.length < 2 * (gateways - 1) + Object.keys(DEFAULTS).length) found.push(await leasePort());
  return toPorts(found.splice(0, gateways), found.splice(0, gateways), () => found.shift() ?? 0);
}

/** Every port of a stack with its variable. */
export function toNamedPorts(ports: StackPorts): NamedPort[] {
  const named = (variable: string, ...all: readonly number[]) => all.map((port) => ({ port, variable }));
  return [
    ...named('GATEWAY_PORT', ...ports.gateways),
    ...named('GATEWAY_PROBE_PORT', ...ports.gatewayProbes),
    ...named('IDENTITY_PROVIDER_PORT', ports.identityProvider),
    ...KINDS.flatMap((kind) =>
      DATABASE_SERVICES.flatMap((service) => named(toVariable(service, kind), ports[kind][service])),
    ),
    ...named('POSTGRES_PORT', ports.postgres),
    ...named('REDIS_PORT', ports.redis),
  ];
}

/** Throws an error that names each port in use and the variable that changes it. */
export async function requireFreePorts(ports: readonly NamedPort[]): Promise<void> {
  const taken = await Promise.all(ports.map(async (named) => ((await isFree(named.port)) ? [] : [named])));
  const lines = taken
    .flat()
    .map(({ port, variable }) => `  port ${port} is taken; set ${variable} to another`);
  if (lines.length > 0) throw new Error(`The local stack cannot start:\n${lines.join('\n')}`);
}

function parsePort(variable: string, text: string | undefined): number {
  if (text === undefined || text === '') return DEFAULTS[variable] as number;
  const port = Number(text);
  if (/^\d+$/.test(text) && port >= 1 && port <= 65_535) return port;
  throw new Error(`${variable} must be a port from 1 to 65535.`);
}

function refuseDuplicates(ports: readonly NamedPort[]): void {
  for (const [port, same] of Map.groupBy(ports, (named) => named.port)) {
    if (port > 65_535) throw new Error(`${same[0]?.variable} results in port ${port}: the maximum is 65535.`);
    if (same.length === 1) continue;
    throw new Error(`Port ${port} is used by ${same.map(({ variable }) => variable).join(' and ')}.`);
  }
}
