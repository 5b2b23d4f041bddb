import type { KeyPair, KeyStore } from './signer.ts';
import type { TokenSet, TokenStore } from './token-store.ts';

// What is used of IndexedDB and Web Locks. The types of Node do not have them.
type Listener = (() => void) | null;
interface Request<Result> {
  readonly result: Result;
  readonly error: unknown;
  onsuccess: Listener;
  onerror: Listener;
}
interface Entries {
  get(key: string): Request<unknown>;
  put(value: unknown, key: string): Request<unknown>;
  delete(key: string): Request<unknown>;
  count(): Request<number>;
  clear(): Request<unknown>;
}
type Mode = 'readonly' | 'readwrite';
interface Database {
  createObjectStore(name: string): unknown;
  transaction(
    name: string,
    mode: Mode,
  ): { readonly error: unknown; oncomplete: Listener; onabort: Listener; objectStore(name: string): Entries };
  close(): void;
}
declare const indexedDB: { open(name: string): Request<Database> & { onupgradeneeded: Listener } };
declare const navigator: {
  readonly locks: { request<Result>(name: string, work: () => Promise<Result>): Promise<Result> };
};

const ENTRIES = 'entries';
const KEY = 'key';

/**
 * Keeps the tokens and the key of a page in IndexedDB, for all its tabs: `store` and `dpop` of the client. The private key cannot be
 * copied, and is removed with the tokens of the last connection. Two apps of one origin need two names.
 */
export function browserStore(name = 'phds'): TokenStore & KeyStore {
  return {
    get: (grantId) => transact(name, 'readonly', (entries) => find<TokenSet>(entries, grantId)),
    replace: (grantId, previous, next) =>
      transact(name, 'readwrite', async (entries) => {
        const held = await find<TokenSet>(entries, grantId);
        if (held?.refreshToken !== previous?.refreshToken) return false;
        if (next !== null) await settle(entries.put(next, grantId));
        else {
          await settle(entries.delete(grantId));
          // Only the key is left.
          if ((await settle(entries.count())) === 1) await settle(entries.clear());
        }
        return true;
      }),
    lock: (grantId, work) => navigator.locks.request(`${name} ${grantId}`, work),
    keyPair: async (make) => {
      const kept = await transact(name, 'readonly', (entries) => find<KeyPair>(entries, KEY));
      if (kept !== null) return kept;
      // Made before the transaction, which ends while nothing is read or written.
      const made = await make();
      return transact(name, 'readwrite', async (entries) => {
        const other = await find<KeyPair>(entries, KEY);
        if (other === null) await settle(entries.put(made, KEY));
        return other ?? made;
      });
    },
  };
}

/** Does the work in one transaction, and returns when what it wrote is kept. */
async function transact<Result>(
  name: string,
  mode: Mode,
  work: (entries: Entries) => Promise<Result>,
): Promise<Result> {
  const opening = indexedDB.open(name);
  opening.onupgradeneeded = () => opening.result.createObjectStore(ENTRIES);
  const database = await settle(opening);
  try {
    const transaction = database.transaction(ENTRIES, mode);
    const ended = new Promise<void>((resolve, reject) => {
      transaction.oncomplete = () => resolve();
      transaction.onabort = () => reject(transaction.error);
    });
    const [result] = await Promise.all([work(transaction.objectStore(ENTRIES)), ended]);
    return result;
  } finally {
    database.close();
  }
}

async function find<Entry>(entries: Entries, key: string): Promise<Entry | null> {
  return ((await settle(entries.get(key))) as Entry | undefined) ?? null;
}

function settle<Result>(request: Request<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
