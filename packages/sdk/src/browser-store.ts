import type { KeyPair, KeyStore } from './signer.ts';
import type { TokenSet, TokenStore } from './token-store.ts';

// What is used of IndexedDB and Web Locks. The types of Node do not have them.
interface Request<Result> extends EventTarget {
  readonly result: Result;
  readonly error: unknown;
}
interface Entries {
  get(key: string): Request<unknown>;
  put(value: unknown, key: string): Request<unknown>;
  delete(key: string): Request<unknown>;
}
interface Transaction extends Request<void> {
  objectStore(name: string): Entries;
}
interface Database {
  createObjectStore(name: string): unknown;
  transaction(name: string, mode: Mode): Transaction;
  close(): void;
}
type Mode = 'readonly' | 'readwrite';
declare const indexedDB: { open(name: string): Request<Database> };
declare const navigator: {
  readonly locks: { request<Result>(name: string, work: () => Promise<Result>): Promise<Result> };
};

const ENTRIES = 'entries';
const KEY = 'key';

/**
 * Keeps the tokens and the key of a page in IndexedDB, for all its tabs: `store` and `dpop` of the client. The private key cannot be
 * copied, and is of no use without tokens, so it stays. Two apps of one origin need two names.
 */
export function browserStore(name = 'phds'): TokenStore & KeyStore {
  return {
    get: (grantId) => transact(name, 'readonly', (entries) => find<TokenSet>(entries, grantId)),
    replace: (grantId, previous, next) =>
      transact(name, 'readwrite', async (entries) => {
        const held = await find<TokenSet>(entries, grantId);
        if (held?.refreshToken !== previous?.refreshToken) return false;
        await settle(next === null ? entries.delete(grantId) : entries.put(next, grantId));
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
  opening.addEventListener('upgradeneeded', () => opening.result.createObjectStore(ENTRIES));
  const database = await settle(opening);
  try {
    const transaction = database.transaction(ENTRIES, mode);
    const ended = settle(transaction, 'complete', 'abort');
    const [result] = await Promise.all([work(transaction.objectStore(ENTRIES)), ended]);
    return result;
  } finally {
    database.close();
  }
}

async function find<Entry>(entries: Entries, key: string): Promise<Entry | null> {
  return ((await settle(entries.get(key))) as Entry | undefined) ?? null;
}

function settle<Result>(request: Request<Result>, end = 'success', failure = 'error'): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.addEventListener(end, () => resolve(request.result));
    request.addEventListener(failure, () => reject(request.error));
  });
}
