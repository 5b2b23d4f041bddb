import { generateKeyPairSync } from 'node:crypto';
import { findOperator, isOtherService, OPERATOR_ROLES, SERVICE_ROLES } from '@phds/service-kit/trust/callers';

/** A key pair for each caller, in the form of the settings of services. */
export interface ServiceKeys {
  /** The public keys of all, as a JWKS. */
  readonly jwks: string;
  /** The private key of one (PKCS #8 PEM). */
  pem(name: string): string;
}

/** Operators and services among the callers, such as `operator:on-call` and `service:billing`, have every role unless `roles` names some. */
export function createServiceKeys(
  names: readonly string[],
  roles: Readonly<Record<string, readonly string[]>> = {},
): ServiceKeys {
  const pairs = new Map(names.map((name) => [name, generateKeyPairSync('ed25519')]));
  const keys = [...pairs].map(([kid, { publicKey }]) => ({
    ...publicKey.export({ format: 'jwk' }),
    kid,
    alg: 'EdDSA',
    ...(findOperator(kid) !== null && { roles: OPERATOR_ROLES }),
    ...(isOtherService(kid) && { roles: roles[kid] ?? SERVICE_ROLES }),
  }));
  return {
    jwks: JSON.stringify({ keys }),
    pem: (name) => String(pairs.get(name)?.privateKey.export({ type: 'pkcs8', format: 'pem' })),
  };
}
