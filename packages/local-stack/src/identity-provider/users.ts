import { appendFile, readFile } from 'node:fs/promises';
import type { Clock } from '@phds/service-kit/clock';
import { findThumbprint } from '@phds/service-kit/keys/key-files';
import { parsePrivateKey, SIGNATURE_ALGORITHM } from '@phds/service-kit/trust/keys';
import { SESSION_TOKEN_TYPE } from '@phds/service-kit/trust/session';
import { SignJWT } from 'jose';

/** An error that the caller can correct; its message is shown. */
export class BadRequest extends Error {}

/** A person who can sign in. */
export interface User {
  readonly id: string;
  readonly name: string;
  readonly description: string;
}

/** The synthetic people of the local stack. */
export const DEMO_USERS: readonly User[] = [
  { id: 'ada', name: 'Ada Sommer', description: 'Data in every category and resource. Berlin.' },
  { id: 'grace', name: 'Grace Miller', description: 'Other data of the same kinds. New York.' },
  { id: 'sparse', name: 'Sam Reed', description: 'A little data.' },
  { id: 'empty', name: 'Emma Stone', description: 'No data at all.' },
];

const USER_ID = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/;
const MAX_USERS = 10_000;

/** The known users: the synthetic ones and those created on sign-in. */
export interface UserDirectory {
  list(): readonly User[];
  /** The name of a user; the id of a user who is not known. */
  nameOf(id: string): string;
  /** Adds a user unless already known. The id must be valid. */
  remember(id: string): Promise<void>;
}

/** Opens a directory that stores users created on sign-in in a file, one a line. */
export async function openUserDirectory(file: string): Promise<UserDirectory> {
  const users = new Map(DEMO_USERS.map((user) => [user.id, user]));
  const add = (id: string) => users.set(id, { id, name: id, description: 'Created on sign-in.' });
  const lines = (await readFile(file, 'utf8').catch(() => '')).split('\n');
  for (const id of lines) if (USER_ID.test(id) && !users.has(id)) add(id);
  return {
    list: () => [...users.values()],
    nameOf: (id) => users.get(id)?.name ?? id,
    async remember(id) {
      // Beyond the limit, people can still sign in but are not added to the list.
      if (users.has(id) || users.size >= MAX_USERS) return;
      add(id);
      await appendFile(file, `${id}\n`);
    },
  };
}

/** The id of a user who signs in, added to the directory unless known. Throws a BadRequest if the id is invalid. */
export async function rememberUser(users: UserDirectory, id: unknown): Promise<string> {
  if (typeof id !== 'string' || !USER_ID.test(id))
    throw new BadRequest(
      'user must be an id of 1 to 64 letters, digits, ".", "_", "@" or "-", such as {"user": "ada"}.',
    );
  await users.remember(id);
  return id;
}

/** Lifetime of a session of the local stack. */
export const SESSION_SECONDS = 12 * 3600;

/** A session token with its expiry. */
export interface IssuedSession {
  readonly token: string;
  readonly expiresAt: Date;
}

/** Signs a session JWT for a user. */
export type SessionIssuer = (user: Pick<User, 'id' | 'name'>) => Promise<IssuedSession>;

/** Creates an issuer of sessions: EdDSA, `typ` session+jwt, twelve hours. */
export function createSessionIssuer(options: {
  readonly issuer: string;
  readonly audience: string;
  readonly privateKeyPem: string;
  readonly clock: Clock;
}): SessionIssuer {
  const key = parsePrivateKey(options.privateKeyPem);
  const kid = findThumbprint(options.privateKeyPem);
  return async ({ id, name }) => {
    const now = Math.floor(options.clock.now().getTime() / 1000);
    const expires = now + SESSION_SECONDS;
    const token = await new SignJWT({ name })
      .setProtectedHeader({ alg: SIGNATURE_ALGORITHM, typ: SESSION_TOKEN_TYPE, kid: await kid })
      .setIssuer(options.issuer)
      .setAudience(options.audience)
      .setSubject(id)
      .setIssuedAt(now)
      .setExpirationTime(expires)
      .sign(await key);
    return { token, expiresAt: new Date(expires * 1000) };
  };
}
