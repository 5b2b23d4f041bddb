/** Whether an app works with people, or rehearses with made-up ones. Chosen at registration; never changes. */
export const ENVIRONMENTS = ['live', 'sandbox'] as const;

export type Environment = (typeof ENVIRONMENTS)[number];

/** Client ids of sandbox apps begin like this; those of live apps have no underscore after `app_`. */
export const SANDBOX_APP_PREFIX = 'app_sandbox_';

/** User ids of sandbox people begin like this. No session has such a subject. */
export const SANDBOX_USER_PREFIX = 'sandbox:';

/** The people of every sandbox app; each app has its own. */
export const SANDBOX_PEOPLE = ['ada', 'ben', 'cleo', 'dora'] as const;

export type SandboxPerson = (typeof SANDBOX_PEOPLE)[number];

/** The person who approves when an authorization request names nobody. */
export const SANDBOX_PERSON_DEFAULT: SandboxPerson = 'ada';

export function isSandboxApp(clientId: string): boolean {
  return clientId.startsWith(SANDBOX_APP_PREFIX);
}

export function isSandboxUser(userId: string): boolean {
  return userId.startsWith(SANDBOX_USER_PREFIX);
}

export function environmentOf(clientId: string): Environment {
  return isSandboxApp(clientId) ? 'sandbox' : 'live';
}

export function isSandboxPerson(name: string): name is SandboxPerson {
  return (SANDBOX_PEOPLE as readonly string[]).includes(name);
}

export function toSandboxUserId(clientId: string, person: SandboxPerson): string {
  return `${SANDBOX_USER_PREFIX}${clientId}:${person}`;
}

/** The app and the person of a sandbox user id; null for every other text. */
export function findSandboxUser(userId: string): { clientId: string; person: SandboxPerson } | null {
  if (!isSandboxUser(userId)) return null;
  const [clientId = '', person = '', ...rest] = userId.slice(SANDBOX_USER_PREFIX.length).split(':');
  return rest.length === 0 && isSandboxApp(clientId) && isSandboxPerson(person) ? { clientId, person } : null;
}

/**
 * Whether a person may have a grant of an app: a sandbox app has only its own sandbox people, a live app has none of them. The databases
 * of consent and authorization check the same.
 */
export function mayShareWith(userId: string, clientId: string): boolean {
  return isSandboxApp(clientId) ? findSandboxUser(userId)?.clientId === clientId : !isSandboxUser(userId);
}
