import { isFree, leasePort } from './servers/leased-ports.ts';

/** TCP ports of a stack. All of them listen on the loopback interface only. */
export interface StackPorts {
  readonly gateways: readonly number[];
  /** One for each gateway. */
  readonly gatewayProbes: readonly number[];
  readonly identityProvider: number;
  readonly authorizationRpc: number;
  readonly consentRpc: number;
  readonly healthDataRpc: number;
  readonly authorizationConnect: number;
  readonly consentConnect: number;
  readonly healthDataConnect: number;
  readonly authorizationProbe: number;
  readonly consentProbe: number;
  readonly healthDataProbe: number;
  readonly postgres: number;
  readonly redis: number;
}

type SinglePort = Exclude<keyof StackPorts, 'gateways' | 'gatewayProbes'>;

const GATEWAY = { variable: 'GATEWAY_PORT', fallback: 8080 } as const;
const GATEWAY_PROBE = { variable: 'GATEWAY_PROBE_PORT', fallback: 7100 } as const;
/** The next ports are those of the other services. */
const GATEWAY_PROBE_STEP = 10;

const SINGLE: Readonly<Record<SinglePort, { variable: string; fallback: number; what: string }>> = {
  identityProvider: { variable: 'IDENTITY_PROVIDER_PORT', fallback: 8090, what: 'identity provider' },
  authorizationRpc: { variable: 'AUTHORIZATION_RPC_PORT', fallback: 7001, what: 'authorization rpc' },
  consentRpc: { variable: 'CONSENT_RPC_PORT', fallback: 7002, what: 'consent rpc' },
  healthDataRpc: { variable: 'HEALTH_DATA_RPC_PORT', fallback: 7003, what: 'health-data rpc' },
  authorizationConnect: {
    variable: 'AUTHORIZATION_CONNECT_PORT',
    fallback: 7201,
    what: 'authorization Connect',
  },
  consentConnect: { variable: 'CONSENT_CONNECT_PORT', fallback: 7202, what: 'consent Connect' },
  healthDataConnect: { variable: 'HEALTH_DATA_CONNECT_PORT', fallback: 7203, what: 'health-data Connect' },
  authorizationProbe: { variable: 'AUTHORIZATION_PROBE_PORT', fallback: 7101, what: 'authorization probes' },
  consentProbe: { variable: 'CONSENT_PROBE_PORT', fallback: 7102, what: 'consent probes' },
  healthDataProbe: { variable: 'HEALTH_DATA_PROBE_PORT', fallback: 7103, what: 'health-data probes' },
  postgres: { variable: 'POSTGRES_PORT', fallback: 7432, what: 'Postgres' },
  redis: { variable: 'REDIS_PORT', fallback: 6380, what: 'Redis' },
};

const SINGLE_NAMES = Object.keys(SINGLE) as SinglePort[];

/** A port with its name for error messages. */
interface NamedPort {
  readonly port: number;
  readonly what: string;
  readonly variable: string;
}

/** The variables that change ports, with their defaults, for the help text. */
export const PORT_VARIABLES: readonly { readonly variable: string; readonly fallback: number }[] = [
  GATEWAY,
  GATEWAY_PROBE,
  ...SINGLE_NAMES.map((name) => SINGLE[name]),
];

/**
 * The default ports, changed by environment variables. Gateways use consecutive ports, and every tenth for
 * probes. Throws an error that names an invalid variable.
 */
export function parsePorts(env: NodeJS.ProcessEnv, gateways: number): StackPorts {
  const parse = ({ variable, fallback }: typeof GATEWAY | typeof GATEWAY_PROBE) =>
    parsePort(variable, env[variable], fallback);
  const first = parse(GATEWAY);
  const firstProbe = parse(GATEWAY_PROBE);
  const single = SINGLE_NAMES.map((name) => {
    const { variable, fallback } = SINGLE[name];
    return [name, parsePort(variable, env[variable], fallback)] as const;
  });
  const ports: StackPorts = {
    gateways: Array.from({ length: gateways }, (_, index) => first + index),
    gatewayProbes: Array.from({ length: gateways }, (_, index) => firstProbe + GATEWAY_PROBE_STEP * index),
    ...(Object.fromEntries(single) as Record<SinglePort, number>),
  };
  refuseDuplicates(toNamedPorts(ports));
  return ports;
}

/** Ports that belong to this process while it lives. */
export async function findRandomPorts(gateways: number): Promise<StackPorts> {
  const found: number[] = [];
  while (found.length < 2 * gateways + SINGLE_NAMES.length) found.push(await leasePort());
  const single = SINGLE_NAMES.map((name, index) => [name, found[2 * gateways + index] ?? 0] as const);
  return {
    gateways: found.slice(0, gateways),
    gatewayProbes: found.slice(gateways, 2 * gateways),
    ...(Object.fromEntries(single) as Record<SinglePort, number>),
  };
}

/** Every port of a stack with its name and variable. */
export function toNamedPorts(ports: StackPorts): NamedPort[] {
  const nameOf = (index: number) => (ports.gateways.length === 1 ? 'gateway' : `gateway ${index + 1}`);
  const gateways = ports.gateways.map((port, index) => ({
    port,
    what: nameOf(index),
    variable: GATEWAY.variable,
  }));
  const probes = ports.gatewayProbes.map((port, index) => ({
    port,
    what: `${nameOf(index)} probes`,
    variable: GATEWAY_PROBE.variable,
  }));
  return [...gateways, ...probes, ...SINGLE_NAMES.map((name) => ({ port: ports[name], ...SINGLE[name] }))];
}

/** Throws an error that names each port in use and the variable that changes it. */
export async function requireFreePorts(ports: readonly NamedPort[]): Promise<void> {
  const taken = await Promise.all(ports.map(async (named) => ((await isFree(named.port)) ? [] : [named])));
  const lines = taken
    .flat()
    .map(({ port, what, variable }) => `  port ${port} (${what}) is taken; set ${variable} to another`);
  if (lines.length > 0) throw new Error(`The local stack cannot start:\n${lines.join('\n')}`);
}

function parsePort(variable: string, text: string | undefined, fallback: number): number {
  if (text === undefined || text === '') return fallback;
  const port = Number(text);
  if (/^\d+$/.test(text) && port >= 1 && port <= 65_535) return port;
  throw new Error(`${variable} must be a port from 1 to 65535.`);
}

function refuseDuplicates(ports: readonly NamedPort[]): void {
  for (const [port, same] of Map.groupBy(ports, (named) => named.port)) {
    if (port > 65_535) throw new Error(`${same[0]?.variable} results in port ${port}: the maximum is 65535.`);
    if (same.length === 1) continue;
    const who = same.map(({ what, variable }) => `${what} (${variable})`).join(' and ');
    throw new Error(`Port ${port} is used by ${who}.`);
  }
}
