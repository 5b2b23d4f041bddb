import type { KeyFiles } from '@phds/service-kit/keys/key-files';
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
    rpcAddresses: {
      authorization: `${HOST}:${ports.authorizationRpc}`,
      consent: `${HOST}:${ports.consentRpc}`,
      'health-data': `${HOST}:${ports.healthDataRpc}`,
    },
    /** Base URL of each service's Connect port. */
    connectUrls: {
      authorization: `http://${HOST}:${ports.authorizationConnect}`,
      consent: `http://${HOST}:${ports.consentConnect}`,
      'health-data': `http://${HOST}:${ports.healthDataConnect}`,
    },
    /** Base URL of each service's /livez, /readyz and /metrics. */
    probeUrls: {
      authorization: `http://${HOST}:${ports.authorizationProbe}`,
      consent: `http://${HOST}:${ports.consentProbe}`,
      'health-data': `http://${HOST}:${ports.healthDataProbe}`,
    },
    /** The same of each gateway. */
    gatewayProbeUrls: ports.gatewayProbes.map((port) => `http://${HOST}:${port}`),
  };
}

/** Environment of the authorization service. */
export function toAuthorizationEnvironment(context: EnvironmentContext): Environment {
  const { ports, keys } = context;
  return {
    ...toCommon(context, 'authorization'),
    ...toSessionSettings(ports),
    RPC_PORT: String(ports.authorizationRpc),
    CONNECT_PORT: String(ports.authorizationConnect),
    PROBE_PORT: String(ports.authorizationProbe),
    DATABASE_URL_FILE: keys.databaseUrls.authorization,
    CONSENT_ADDRESS: toAddresses(ports).rpcAddresses.consent,
    ISSUER: toAddresses(ports).publicUrl,
    DERIVATION_KEY_FILE: keys.derivationKey,
    ASSERTION_PRIVATE_KEY_FILE: keys.assertionPrivateKey,
    DEVELOPERS: 'anyone',
    APP_APPROVAL: 'none',
    EGRESS_ALLOW_LOOPBACK: 'true',
    MAX_APPS_PER_DEVELOPER: '20000',
  };
}

/** Environment of the consent service. */
export function toConsentEnvironment(context: EnvironmentContext): Environment {
  const { ports, keys } = context;
  return {
    ...toCommon(context, 'consent'),
    ...toSessionSettings(ports),
    SANDBOX: String(context.sandbox ?? false),
    RPC_PORT: String(ports.consentRpc),
    CONNECT_PORT: String(ports.consentConnect),
    PROBE_PORT: String(ports.consentProbe),
    DATABASE_URL_FILE: keys.databaseUrls.consent,
    RECEIPT_PRIVATE_KEY_FILE: keys.receiptPrivateKey,
    WEBHOOK_KEY_FILE: keys.webhookKey,
    EGRESS_ALLOW_LOOPBACK: 'true',
    WEBHOOK_DATA_SPACING_MS: '1000',
    MAX_LIVE_PENDING_PER_APP: '5000',
  };
}

/** Environment of the health-data service. */
export function toHealthDataEnvironment(context: EnvironmentContext): Environment {
  const { ports, keys } = context;
  return {
    ...toCommon(context, 'health-data'),
    ...toSessionSettings(ports),
    SANDBOX: String(context.sandbox ?? false),
    RPC_PORT: String(ports.healthDataRpc),
    CONNECT_PORT: String(ports.healthDataConnect),
    PROBE_PORT: String(ports.healthDataProbe),
    DATABASE_URL_FILE: keys.databaseUrls['health-data'],
    CONSENT_ADDRESS: toAddresses(ports).rpcAddresses.consent,
    ASSERTION_PUBLIC_KEYS_FILE: keys.assertionPublicKeys,
    PUBLIC_ID_KEY_FILE: keys.publicIdKey,
  };
}

/** Environment of one gateway; `index` counts from 0. */
export function toGatewayEnvironment(context: EnvironmentContext, index: number): Environment {
  const { ports, keys } = context;
  const { rpcAddresses: addresses, publicUrl, identityProviderUrl } = toAddresses(ports);
  return {
    ...toCommon(context, 'gateway'),
    ...toSessionSettings(ports),
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
  { keys, redisUrl }: EnvironmentContext,
  service: 'authorization' | 'consent' | 'health-data' | 'gateway',
): Environment {
  return {
    ...inheritedEnvironment(),
    HOST,
    SERVICE_PRIVATE_KEY_FILE: keys.servicePrivateKeys[service],
    SERVICE_PUBLIC_KEYS_FILE: keys.servicePublicKeys,
    ...(redisUrl === null ? {} : { REDIS_URL: redisUrl }),
  };
}

function toSessionSettings(ports: StackPorts): Environment {
  return {
    SESSION_ISSUER: toAddresses(ports).identityProviderUrl,
    SESSION_AUDIENCE,
    SESSION_JWKS: `http://${HOST}:${ports.identityProvider}/.well-known/jwks.json`,
  };
}
