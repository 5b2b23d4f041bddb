import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Scope } from '@phds/catalog/scopes';
import { Deadline, withinDeadline } from '@phds/service-kit/current-work';
import { readStatement } from '@phds/service-kit/postgres/sql';
import { type RestoreGuard, Unverified } from '@phds/service-kit/restore/guard';
import { sha256 } from '@phds/service-kit/secrets';
import { eventually } from '@phds/test-kit/conditions';
import { explainGeneric, listIndexes, listNamedIndexes, readSqlFiles } from '@phds/test-kit/sql-files';
import { openTestPool } from '@phds/test-kit/test-pool';
import { createLookUp } from '../src/store/statements.ts';
import { createTokenStore, type Exchange, type Rotation, type TokenStore } from '../src/token.ts';
import { HEART, SLEEP, startHarness } from './harness.ts';

const harness = await startHarness();
const app = await harness.registerApp();
const owner = await harness.connect();
const admin = await harness.connect('admin');
const pool = openTestPool(harness.database.url, {
  application_name: 'groups',
  options: '-c search_path=authorization',
});
afterAll(async () => {
  await pool.end();
  await harness[Symbol.asyncDispose]();
});

const statements = readSqlFiles(new URL('../src/store/sql/', import.meta.url), readStatement);

test.each(statements.filter(([, text]) => !text.includes('-- Indexes: none.')))(
  '%s finds everything by the indexes that its comment names',
  async (_, text) => {
    await owner.query('SET enable_seqscan = off');
    const plan = await explainGeneric(owner, text);
    expect(plan).not.toContain('Seq Scan');
    expect(listNamedIndexes(text)).not.toEqual([]);
    expect(listIndexes(plan)).toEqual(expect.arrayContaining(listNamedIndexes(text)));
  },
);

describe('grouped changes', () => {
  const LATER = new Date(Date.now() + 3_600_000);

  let instance: string;
  let noted: number[];
  let store: Pick<TokenStore, 'exchange' | 'rotate' | 'findFamily'>;
  let made = 0;

  beforeEach(async () => {
    instance = randomUUID();
    noted = [];
    await admin.query('INSERT INTO instance (id, position) VALUES ($1, 5)', [instance]);
    const guard: Pick<RestoreGuard, 'remembered' | 'verified' | 'noteProof'> = {
      remembered: [instance, 5],
      verified: (operation) => operation(),
      noteProof: (position) => void noted.push(position),
    };
    store = createTokenStore(pool, {} as never, guard as RestoreGuard);
  });
  afterEach(() => admin.query('ROLLBACK'));

  /** An exchange of a new code of this person. */
  async function newExchange(userId: string): Promise<Exchange> {
    made += 1;
    return {
      familyId: `fam_${made}`,
      familyExpiresAt: LATER,
      accessHash: sha256(`access ${made}`),
      accessExpiresAt: LATER,
      refreshHash: sha256(`refresh ${made}`),
      jkt: null,
      familyJkt: null,
      scopes: [HEART],
      now: harness.clock.now(),
      codeHash: sha256(await harness.obtainCode(app, { userId })),
    };
  }

  /** The first use of the refresh token that this exchange has issued. */
  function toRotation({ familyId, now }: Exchange): Rotation {
    made += 1;
    return {
      familyId,
      seenGeneration: 0,
      generation: 1,
      refreshHash: sha256(`refresh ${made}`),
      scopes: [HEART, SLEEP],
      scope: SLEEP,
      familyExpiresAt: LATER,
      accessHash: sha256(`access ${made}`),
      accessScopes: [SLEEP],
      accessExpiresAt: LATER,
      jkt: null,
      now,
    };
  }

  const newExchanges = (...userIds: string[]) => Promise.all(userIds.map(newExchange));
  const exchangeAll = (exchanges: readonly Exchange[]) => Promise.all(exchanges.map(store.exchange));
  const rotateAll = (rotations: readonly Rotation[]) => Promise.all(rotations.map(store.rotate));

  /** Which of these codes are used. */
  async function areUsed(...exchanges: Exchange[]): Promise<boolean[]> {
    const { rows } = await admin.query(`SELECT hash FROM authorization_code WHERE consumed_at IS NOT NULL`);
    return exchanges.map(({ codeHash }) => rows.some(({ hash }) => hash.equals(codeHash)));
  }

  async function readToken({ accessHash }: Pick<Exchange, 'accessHash'>) {
    const { rows } = await admin.query(
      `SELECT token.user_id AS "userId", token.scopes, family.user_id AS "ofFamily" FROM access_token AS token
     JOIN token_family AS family ON family.id = token.family_id WHERE token.hash = $1`,
      [accessHash],
    );
    return rows[0];
  }

  /** Whether a statement of the store waits for a lock, now: a transaction keeps what it has seen of this view. */
  async function isWaiting(): Promise<boolean> {
    await admin.query('SELECT pg_stat_clear_snapshot()');
    const { rows } = await admin.query(
      `SELECT FROM pg_stat_activity WHERE application_name = 'groups' AND wait_event_type = 'Lock'`,
    );
    return rows.length > 0;
  }

  test('each change of a group has its own result and row, and all count up once', async () => {
    const users = ['u1', 'u2', 'u3'];
    const [used, unknown] = await Promise.all([newExchange('used'), newExchange('unknown')]);
    await store.exchange(used);
    const exchanges = await newExchanges(...users);
    const mixed = [...exchanges, used, { ...unknown, codeHash: sha256('unknown') }];
    expect(await exchangeAll(mixed)).toEqual([true, true, true, false, false]);
    const rotations = exchanges.map(toRotation);
    expect(await rotateAll([...rotations, ...rotations])).toEqual([true, true, true, false, false, false]);
    for (const [index, userId] of users.entries()) {
      const tokens = await Promise.all([exchanges[index]!, rotations[index]!].map(readToken));
      expect(tokens).toEqual([HEART, SLEEP].map((scope) => ({ userId, ofFamily: userId, scopes: [scope] })));
      const family = await store.findFamily(exchanges[index]!.familyId);
      expect(family).toMatchObject({ scopes: [HEART, SLEEP], userId, generation: 1 });
    }
    expect(noted).toEqual([6, 7, 8]);
  });

  test('a group that cannot commit changes nothing, and its position is not remembered', async () => {
    const exchanges = await newExchanges('ada', 'ada');
    await admin.query(`
    CREATE FUNCTION refuse_commit() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''no commit''; END';
    CREATE CONSTRAINT TRIGGER refuse_commit AFTER INSERT ON token_family DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION refuse_commit()`);
    const outcomes = await Promise.allSettled(exchanges.map(store.exchange));
    await admin.query('DROP FUNCTION refuse_commit CASCADE');
    expect(outcomes).toMatchObject(Array(2).fill({ status: 'rejected', reason: { message: 'no commit' } }));
    expect([await areUsed(...exchanges), noted]).toEqual([[false, false], []]);
  });

  test('a group of an instance that is not registered changes nothing, because nothing would prove it', async () => {
    const exchange = await newExchange('ada');
    await admin.query('UPDATE instance SET ended = true WHERE id = $1', [instance]);
    await expect(store.exchange(exchange)).rejects.toThrow(Unverified);
    expect([await areUsed(exchange), noted]).toEqual([[false], []]);
  });

  test('a row that cannot be stored fails its own change and no other', async () => {
    const [taken, good, bad] = await Promise.all([
      newExchange('ada'),
      newExchange('ada'),
      newExchange('ada'),
    ]);
    await store.exchange(taken);
    const group = [good, { ...bad, accessHash: taken.accessHash }];
    expect((await Promise.allSettled(group.map(store.exchange))).map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
    ]);
    expect(await areUsed(good, bad)).toEqual([true, false]);
  });

  test('a caller that is late when its group would commit has exchanged nothing; the others have', async () => {
    const [late, good] = await Promise.all([newExchange('ada'), newExchange('ada')]);
    await admin.query('BEGIN');
    await admin.query('SELECT FROM instance WHERE id = $1 FOR UPDATE', [instance]);
    const deadline = new Deadline(60_000);
    const group = Promise.allSettled([
      withinDeadline(deadline, () => store.exchange(late)),
      store.exchange(good),
    ]);
    await eventually(isWaiting);
    deadline.end();
    await admin.query('COMMIT');
    expect(await group).toMatchObject([{ reason: { reason: 'unavailable' } }, { value: true }]);
    expect(await areUsed(late, good)).toEqual([false, true]);
  });

  test('a group does not wait for a locked row, which is waited for alone', async () => {
    const [held, other, ...exchanges] = await Promise.all([
      newExchange('ada'),
      ...['ada', 'u1', 'u2'].map(newExchange),
    ]);
    await exchangeAll(exchanges);
    const [rotation, ...free] = exchanges.map(toRotation);
    await admin.query('BEGIN');
    await admin.query('SELECT FROM authorization_code WHERE hash = $1 FOR UPDATE', [held.codeHash]);
    await admin.query('SELECT FROM token_family WHERE id = $1 FOR UPDATE', [rotation!.familyId]);
    const waiting = Promise.all([store.exchange(held), store.rotate(rotation!)]);
    expect(await Promise.all([store.exchange(other!), ...free.map(store.rotate)])).toEqual([true, true]);
    await eventually(isWaiting);
    await admin.query('COMMIT');
    expect(await waiting).toEqual([true, true]);
  });
});

describe('look-ups', () => {
  interface Row {
    readonly hash: Buffer;
    readonly secret: string;
    readonly scopes: readonly Scope[];
  }

  const hashOf = (name: string) => Buffer.from(name);

  /** A look-up in a table that the test fills. It returns rows in the opposite order of the keys that were asked for. */
  function createTable() {
    const table = new Map<string, string>();
    const asked: string[][] = [];
    const query = async ({ values: [keys = []] }: { values: [Uint8Array[]] }) => {
      const names = keys.map((key) => Buffer.from(key).toString());
      asked.push(names);
      const found = names.filter((name) => table.has(name)).reverse();
      const toRow = (name: string) => ({
        hash: hashOf(name),
        secret: table.get(name) ?? '',
        scopes: [HEART, 'read:health-data:removed'],
        unverified: false,
      });
      return { rows: found.map(toRow) };
    };
    const find = createLookUp({
      pool: { query } as never,
      guard: { remembered: [null, 0], verified: <T>(operation: () => Promise<T>) => operation() } as never,
      statement: { name: 'find', text: '' },
      keyOf: ({ hash }: Row) => hash,
    });
    const findRow = (name: string) => find(hashOf(name));
    return { table, asked, findRow, find: async (name: string) => (await findRow(name))?.secret ?? null };
  }

  test('look-ups that share a statement each get the row of their own key, or null', async () => {
    const { table, asked, find } = createTable();
    for (const name of ['a', 'b', 'c']) table.set(name, `secret of ${name}`);
    const names = ['b', 'nobody', 'a', 'b', 'c', 'b'];
    expect(await Promise.all(names.map(find))).toEqual([
      'secret of b',
      null,
      'secret of a',
      'secret of b',
      'secret of c',
      'secret of b',
    ]);
    expect(asked).toEqual([['b', 'nobody', 'a', 'c']]);
  });

  test('a row has no scopes that the catalog no longer has', async () => {
    const { table, findRow } = createTable();
    table.set('a', 'secret');
    expect(await findRow('a')).toMatchObject({ scopes: [HEART] });
  });

  test('a look-up sees what was changed before it, however steadily its key is in use', async () => {
    const { table, find } = createTable();
    for (const secret of ['first', 'second', 'third']) {
      table.set('a', secret);
      expect(await Promise.all([find('a'), find('a')])).toEqual([secret, secret]);
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    table.delete('a');
    expect(await find('a')).toBeNull();
  });
});
