/** What operators may do. `operator` includes `support`, and every role includes `viewer` (docs/operations/people.md#operators). */
export const OPERATOR_ROLES = ['viewer', 'support', 'operator', 'auditor'] as const;

/** What other services of the deployment may do (docs/internal-services.md). */
export const SERVICE_ROLES = [
  'token-introspection',
  'consent-reader',
  'consent-ender',
  'record-writer',
  'ingest',
] as const;

export type OperatorRole = (typeof OPERATOR_ROLES)[number];
export type ServiceRole = (typeof SERVICE_ROLES)[number];
type Role = OperatorRole | ServiceRole;

const OPERATOR = 'operator:';
const SERVICE = 'service:';
/** The callers that have roles, by the prefix of their names. */
const ROLES: Readonly<Record<string, readonly Role[]>> = {
  [OPERATOR]: OPERATOR_ROLES,
  [SERVICE]: SERVICE_ROLES,
};
/** Names after the prefix: 1 to 64 lower case letters, digits, dots, hyphens and underscores. */
export const CALLER_NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const ROLE = 'role:';

// The entries of `Admitted` that stand for roles.
const admitting = (...roles: readonly Role[]) => roles.map((role) => `${ROLE}${role}`);

/** May list apps, webhooks, developers and restores. */
export const VIEWERS = admitting('viewer', 'support', 'operator', 'auditor');
/** May read what a person shares, and end grants and sessions. */
export const SUPPORTERS = admitting('support', 'operator');
/** May change everything that operators can change. */
export const OPERATORS = admitting('operator');
/** May read the operators' record. */
export const AUDITORS = admitting('auditor');
/** May ask whether a token is alive, whose it is and for which scopes. */
export const TOKEN_INTROSPECTORS = admitting('token-introspection');
/** May ask what a person shares with whom. */
export const CONSENT_READERS = admitting('consent-reader');
/** May end a grant. Their calls are recorded as those of operators. */
export const CONSENT_ENDERS = admitting('consent-ender');
/** May record accesses and have them judged. */
export const RECORD_WRITERS = admitting('record-writer');
/** May store and delete health data. */
export const INGESTERS = admitting('ingest');

/** Name of an operator as a caller, which is the `kid` of the key. */
export function toOperatorCaller(name: string): string {
  return `${OPERATOR}${name}`;
}

/** Name of another service of the deployment as a caller, which is the `kid` of the key. */
export function toServiceCaller(name: string): string {
  return `${SERVICE}${name}`;
}

/** Name of the operator who calls; null when the caller is a service. */
export function findOperator(caller: string): string | null {
  return caller.startsWith(OPERATOR) ? caller.slice(OPERATOR.length) : null;
}

/** Whether another service of the deployment calls: not one of the four services, and no operator. */
export function isOtherService(caller: string): boolean {
  return caller.startsWith(SERVICE);
}

/** The roles of each operator and service, by the caller. */
export type RolesOf = (caller: string) => readonly Role[];

/**
 * The roles in a key set of callers: member `roles` of the keys whose `kid` is `operator:` or `service:` and a name. Throws an Error for
 * another name, for no known role, and for keys of one caller with different roles.
 */
export function parseRoles(jwks: string): RolesOf {
  const roles = new Map<string, readonly Role[]>();
  const { keys } = JSON.parse(jwks) as {
    keys: readonly { readonly kid?: string; readonly roles?: unknown }[];
  };
  for (const { kid = '', roles: given } of keys) {
    if (kid.startsWith(ROLE)) throw new Error(`"${kid}" is not the name of a caller`);
    const prefix = findPrefix(kid);
    if (prefix === undefined) continue;
    if (!CALLER_NAME.test(kid.slice(prefix.length)))
      throw new Error(`"${kid}" is not ${prefix} and a name in lower case`);
    const found = toRoles(kid, given, ROLES[prefix] ?? []);
    const known = roles.get(kid) ?? found;
    if (known.join() !== found.join()) throw new Error(`keys of "${kid}" have different roles`);
    roles.set(kid, found);
  }
  return (caller) => roles.get(caller) ?? [];
}

function findPrefix(caller: string): string | undefined {
  return Object.keys(ROLES).find((prefix) => caller.startsWith(prefix));
}

function toRoles(kid: string, given: unknown, known: readonly Role[]): Role[] {
  const found = known.filter((role) => Array.isArray(given) && given.includes(role));
  if (Array.isArray(given) && found.length > 0 && found.length === given.length) return found;
  throw new Error(`"roles" of the key of "${kid}" must list some of ${known.join(', ')}`);
}

/** Whether an rpc that admits these callers admits this one. */
export function isAdmitted(admitted: readonly string[], caller: string, rolesOf: RolesOf): boolean {
  return admitted.includes(caller) || rolesOf(caller).some((role) => admitted.includes(`${ROLE}${role}`));
}

/** Why an rpc does not admit a caller whose token is valid: what it would need, or who may call. */
export function explainRefusal(rpc: string, admitted: readonly string[], caller: string): string {
  const prefix = findPrefix(caller) ?? '';
  const needed = (ROLES[prefix] ?? []).filter((role) => admitted.includes(`${ROLE}${role}`));
  const refusal = `${caller.slice(prefix.length)} may not call ${rpc}`;
  if (needed.length > 0) return `${refusal}; it needs ${needed.join(' or ')}`;
  const others = admitted.map((entry) =>
    entry.startsWith(ROLE) ? `the role ${entry.slice(ROLE.length)}` : entry,
  );
  return `${refusal}; only ${others.join(' or ')} may`;
}

/** Names of the roles of services that an rpc admits. */
export function listServiceRoles(admitted: readonly string[]): ServiceRole[] {
  return SERVICE_ROLES.filter((role) => admitted.includes(`${ROLE}${role}`));
}
