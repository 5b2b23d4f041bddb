/** What operators may do. `operator` includes `support`, and every role includes `viewer` (docs/operations/operators.md). */
export const OPERATOR_ROLES = ['viewer', 'support', 'operator', 'auditor'] as const;

export type OperatorRole = (typeof OPERATOR_ROLES)[number];

const CALLER = 'operator:';
/** Names of operators: 1 to 64 lower case letters, digits, dots, hyphens and underscores. */
export const OPERATOR_NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const ROLE = 'role:';

// The entries of `Admitted` that stand for operators.
const admitting = (...roles: readonly OperatorRole[]) => roles.map((role) => `${ROLE}${role}`);

/** May look at apps, developers, reports and restores. */
export const VIEWERS = admitting('viewer', 'support', 'operator', 'auditor');
/** May look at what a person has, and end grants and sessions. */
export const SUPPORTERS = admitting('support', 'operator');
/** May change everything that operators can change. */
export const OPERATORS = admitting('operator');
/** May read the operators' record. */
export const AUDITORS = admitting('auditor');

/** Name of an operator as a caller, which is the `kid` of the key. */
export function toOperatorCaller(name: string): string {
  return `${CALLER}${name}`;
}

/** Name of the operator who calls; null when the caller is a service. */
export function findOperator(caller: string): string | null {
  return caller.startsWith(CALLER) ? caller.slice(CALLER.length) : null;
}

/** The roles of each operator, by the caller. */
export type RolesOf = (caller: string) => readonly OperatorRole[];

/**
 * The roles of operators in a key set of callers: member `roles` of the keys whose `kid` is `operator:` and a name. Throws an Error for another name, for no known role, and for keys of one operator with
 * different roles.
 */
export function parseRoles(jwks: string): RolesOf {
  const roles = new Map<string, readonly OperatorRole[]>();
  const { keys } = JSON.parse(jwks) as {
    keys: readonly { readonly kid?: string; readonly roles?: unknown }[];
  };
  for (const { kid = '', roles: given } of keys) {
    if (kid.startsWith(ROLE)) throw new Error(`"${kid}" is not the name of a caller`);
    const name = findOperator(kid);
    if (name === null) continue;
    if (!OPERATOR_NAME.test(name)) throw new Error(`"${kid}" is not operator: and a name in lower case`);
    const found = toRoles(kid, given);
    const known = roles.get(kid) ?? found;
    if (known.join() !== found.join()) throw new Error(`keys of "${kid}" have different roles`);
    roles.set(kid, found);
  }
  return (caller) => roles.get(caller) ?? [];
}

function toRoles(kid: string, given: unknown): OperatorRole[] {
  const found = OPERATOR_ROLES.filter((role) => Array.isArray(given) && given.includes(role));
  if (Array.isArray(given) && found.length > 0 && found.length === given.length) return found;
  throw new Error(`"roles" of the key of "${kid}" must list some of ${OPERATOR_ROLES.join(', ')}`);
}

/** Whether an rpc that admits these callers admits this one. */
export function isAdmitted(admitted: readonly string[], caller: string, rolesOf: RolesOf): boolean {
  return admitted.includes(caller) || rolesOf(caller).some((role) => admitted.includes(`${ROLE}${role}`));
}
