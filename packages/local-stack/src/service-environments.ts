import { DATABASE_SERVICES, type DatabaseService, type KeyFiles } from '@phds/service-kit/keys/key-files';
import type { StackPorts } from './ports.ts';
import { inheritedEnvironment } from './servers/guard.ts';

/** Environment variables of a process. */
export type Environment = Readonly<Record<string, string>>;

/** `aud` of the sessions in the local stack, and the gateway's client id at the identity provider. */
export const SESSION_AUDIENCE = 'phds';

/** The inputs of all environments. */
export interface EnvironmentContext {
  readonly ports: StackPorts;
  readonly keys: KeyFiles;
  /** Null when the services run without Redis. */
  readonly redisUrl: string | null;
  /** Whether the deployment is a sandbox. Default false. */
  readonly sandbox?: boolean;
}

const HOST = '127.0.0.1';

/** A hundred times the defaults, so that development does not hit the limits. */
export const RAISED_LIMITS = [
  'app-user=30000,app=600000,client=600000,client-credentials=6000,grant-lists=30000,public-clients=30000',
  'anonymous-authorizations=6000,sign-ins=30000,user=60000,user-changes=12000,user-costly=60000',
  'failed-authentications=6000',
].join(',');

/** Where the parts of a stack with these ports are reached. */
export function toAddresses(ports: StackPorts) {
  const gatewayUrls = ports.gateways.map((port) => `http://localhost:${port}`);
  return {
    /** Base URL of each gateway. The first one is the public URL of all. */
    gatewayUrls,
    publicUrl: gatewayUrls[0] ?? '',
    /** Public URL of the identity provider; `iss` of its sessions. */
    identityProviderUrl: `http://localhost:${ports.identityProvider}`,
    /** `host:port` of each service's rpc. */
    rpcAddresses: toEach(ports.rpc, (port) => `${HOST}:${port}`),
    /** Base URL of each service's Connect port. */
    connectUrls: toEach(ports.connect, (port) => `http://${HOST}:${port}`),
    /** Base URL of each service's /livez, /readyz and /metrics. */
    probeUrls: toEach(ports.probe, (port) => `http://${HOST}:${port}`),
    /** The same of each gateway. */
    gatewayProbeUrls: ports.gatewayProbes.map((port) => `http://${HOST}:${port}`),
  };
}

function toEach(ports: Readonly<Record<DatabaseService, number>>, toAddress: (port: number) => string) {
  const addresses = DATABASE_SERVICES.map((service) => [service, toAddress(ports[service])] as const);
  return Object.fromEntries(addresses) as Record<DatabaseService, string>;
}

/** The settings that only one of the services has. */
const OWN: Readonly<Record<DatabaseService, (context: EnvironmentContext) => Environment>> = {
  authorization: ({ ports, keys }) => ({
    CONSENT_ADDRESS: toAddresses(ports).rpcAddresses.consent,
    ISSUER: toAddresses(ports).publicUrl,
    DERIVATION_KEY_FILE: keys.derivationKey,
    ASSERTION_PRIVATE_KEY_FILE: keys.assertionPrivateKey,
    DEVELOPERS: 'anyone',
    APP_APPROVAL: 'none',
    EGRESS_ALLOW_LOOPBACK: 'true',
    MAX_APPS_PER_DEVELOPER: '20000',
  }),
  consent: ({ keys, sandbox = false }) => ({
    SANDBOX: String(sandbox),
    RECEIPT_PRIVATE_KEY_FILE: keys.receiptPrivateKey,
    WEBHOOK_KEY_FILE: keys.webhookKey,
    EGRESS_ALLOW_LOOPBACK: 'true',
    WEBHOOK_DATA_SPACING_MS: '1000',
    MAX_LIVE_PENDING_PER_APP: '5000',
  }),
  'health-data': ({ ports, keys, sandbox = false }) => ({
    SANDBOX: String(sandbox),
    CONSENT_ADDRESS: toAddresses(ports).rpcAddresses.consent,
    ASSERTION_PUBLIC_KEYS_FILE: keys.assertionPublicKeys,
    PUBLIC_ID_KEY_FILE: keys.publicIdKey,
  }),
};

/** Environment of a service with a database. */
export function toServiceEnvironment(service: DatabaseService, context: EnvironmentContext): Environment {
  const { ports, keys } = context;
  return {
    ...toCommon(context, service),
    RPC_PORT: String(ports.rpc[service]),
    CONNECT_PORT: String(ports.connect[service]),
    PROBE_PORT: String(ports.probe[service]),
    DATABASE_URL_FILE: keys.databaseUrls[service],
    ...OWN[service](context),
  };
}

/** Environment of one gateway; `index` counts from 0. */
export function toGatewayEnvironment(context: EnvironmentContext, index: number): Environment {
  const { ports, keys } = context;
  const { rpcAddresses: addresses, publicUrl, identityProviderUrl } = toAddresses(ports);
  return {
    ...toCommon(context, 'gateway'),
    SANDBOX: String(context.sandbox ?? false),
    PORT: String(ports.gateways[index]),
    PROBE_PORT: String(ports.gatewayProbes[index]),
    PUBLIC_URL: publicUrl,
    OIDC_ISSUER: identityProviderUrl,
    OIDC_CLIENT_ID: SESSION_AUDIENCE,
    OIDC_SCOPE: 'openid profile',
    OIDC_CLIENT_SECRET_FILE: keys.oidcClientSecret,
    SIGN_IN_KEY_FILE: keys.signInKey,
    AUTHORIZATION_ADDRESS: addresses.authorization,
    CONSENT_ADDRESS: addresses.consent,
    HEALTH_DATA_ADDRESS: addresses['health-data'],
    RECEIPT_PUBLIC_KEYS_FILE: keys.receiptPublicKeys,
    LIMITS: RAISED_LIMITS,
  };
}

/** Environment of the identity provider. */
export function toIdentityProviderEnvironment(context: EnvironmentContext, usersFile: string): Environment {
  const { ports, keys } = context;
  const { gatewayUrls, identityProviderUrl } = toAddresses(ports);
  return {
    ...inheritedEnvironment(),
    HOST,
    PORT: String(ports.identityProvider),
    ISSUER: identityProviderUrl,
    PRIVATE_KEY_FILE: keys.identityProviderPrivateKey,
    CLIENT_ID: SESSION_AUDIENCE,
    CLIENT_SECRET_FILE: keys.oidcClientSecret,
    GATEWAY_URLS: gatewayUrls.join(','),
    BACKCHANNEL_LOGOUT_URL: `http://${HOST}:${ports.gateways[0]}/sign-out/back-channel`,
    USERS_FILE: usersFile,
  };
}

function toCommon(
  { ports, keys, redisUrl }: EnvironmentContext,
  service: DatabaseService | 'gateway',
): Environment {
  return {
    ...inheritedEnvironment(),
    HOST,
    SERVICE_PRIVATE_KEY_FILE: keys.servicePrivateKeys[service],
    SERVICE_PUBLIC_KEYS_FILE: keys.servicePublicKeys,
    SESSION_ISSUER: toAddresses(ports).identityProviderUrl,
    SESSION_AUDIENCE,
    SESSION_JWKS: `http://${HOST}:${ports.identityProvider}/.well-known/jwks.json`,
    ...(redisUrl === null ? {} : { REDIS_URL: redisUrl }),
  };
}
