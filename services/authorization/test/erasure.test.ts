import { describe, expect, test } from '@jest/globals';
import { TokenStatus } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { BAD_USER_IDS } from '@phds/test-kit/user-ids';
import { REDIRECT_URI, reasonOf, shareHarness } from './harness.ts';

const harness = await shareHarness();

const owner = await harness.connect();

/** All texts in the tables of the schema. */
async function everything(): Promise<string> {
  const { rows } = await owner.query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
     WHERE schemaname = 'authorization' AND tablename <> '_prisma_migrations'`,
  );
  const texts: string[] = [];
  for (const { name } of rows) {
    const { rows: contents } = await owner.query(`SELECT t::text AS text FROM ${name} t`);
    texts.push(...contents.map((row) => row.text));
  }
  return texts.join('\n');
}

async function registerAs(userId: string): Promise<string> {
  const settings = { name: 'Theirs', redirectUris: [REDIRECT_URI] };
  const { app } = await harness.apps.registerApp({ settings }, await harness.as(userId));
  return app?.clientId ?? '';
}

describe('erasing a person', () => {
  test('removes their codes and tokens, and those of no other person', async () => {
    const app = await harness.registerApp();
    const theirs = await harness.exchange(app, await harness.obtainCode(app, { userId: 'goes' }));
    const others = await harness.exchange(app, await harness.obtainCode(app, { userId: 'stays' }));
    await harness.refresh(app, theirs.refreshToken);
    const unused = await harness.obtainCode(app, { userId: 'goes' });
    expect(await everything()).toContain('goes');

    const erased = await harness.operated.eraseUser({ userId: 'goes' });

    expect(erased).toMatchObject({ codes: 2, families: 1, apps: 0 });
    expect(await everything()).not.toContain('goes');
    expect((await harness.introspect(theirs.accessToken)).status).toBe(TokenStatus.UNKNOWN);
    expect((await harness.introspect(others.accessToken)).status).toBe(TokenStatus.LIVE);
    expect(await reasonOf(harness.refresh(app, theirs.refreshToken))).toBe('invalid_grant');
    expect(await reasonOf(harness.exchange(app, unused))).toBe('invalid_grant');
    expect(await harness.operated.eraseUser({ userId: 'goes' })).toMatchObject({ codes: 0, families: 0 });
  });

  test('goes on after an interruption, with what the steps before it removed', async () => {
    const app = await harness.registerApp();
    await harness.exchange(app, await harness.obtainCode(app, { userId: 'many' }));
    await owner.query(
      `CREATE FUNCTION "authorization".interrupt() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''interrupted''; END';
       CREATE TRIGGER interrupt BEFORE DELETE ON "authorization".token_family EXECUTE FUNCTION "authorization".interrupt()`,
    );
    expect(await reasonOf(harness.operated.eraseUser({ userId: 'many' }))).toBe('internal');
    await owner.query('DROP FUNCTION "authorization".interrupt CASCADE');
    expect(await harness.operated.eraseUser({ userId: 'many' })).toMatchObject({ codes: 0, families: 1 });
    expect(await everything()).not.toContain('many');
  });

  test('deletes at most 1,000 access tokens in a statement', async () => {
    const app = await harness.registerApp();
    const { accessToken } = await harness.exchange(app, await harness.obtainCode(app, { userId: 'busy' }));
    const { principal } = await harness.introspect(accessToken);
    await owner.query(
      `INSERT INTO access_token (hash, family_id, client_id, user_id, grant_id, scopes, app_epoch, issued_at, expires_at)
       SELECT sha256(number::text::bytea), id, client_id, user_id, grant_id, '{}', app_epoch, now(), now()
       FROM token_family, generate_series(1, 2500) AS number WHERE id = $1`,
      [principal!.familyId],
    );
    await owner.query(
      `CREATE FUNCTION limit_step() RETURNS trigger LANGUAGE plpgsql AS
         'BEGIN IF (SELECT count(*) FROM gone) > 1000 THEN RAISE ''too many''; END IF; RETURN NULL; END';
       CREATE TRIGGER limit_step AFTER DELETE ON access_token REFERENCING OLD TABLE AS gone
         FOR EACH STATEMENT EXECUTE FUNCTION limit_step()`,
    );
    expect(await harness.operated.eraseUser({ userId: 'busy' })).toMatchObject({ codes: 1, families: 1 });
    await owner.query('DROP FUNCTION limit_step CASCADE');
    const { rows } = await owner.query('SELECT FROM access_token WHERE family_id = $1', [
      principal!.familyId,
    ]);
    expect(rows).toEqual([]);
  });

  test('ends their apps if requested, and otherwise removes nothing', async () => {
    const clientId = await registerAs('amy-the-maker');
    const app = await harness.registerApp();
    const { accessToken } = await harness.exchange(
      app,
      await harness.obtainCode(app, { userId: 'amy-the-maker' }),
    );
    expect(await reasonOf(harness.operated.eraseUser({ userId: 'amy-the-maker' }))).toBe('conflict');
    expect((await harness.introspect(accessToken)).status).toBe(TokenStatus.LIVE);

    const erased = await harness.operated.eraseUser({ userId: 'amy-the-maker', revokeApps: true });

    expect(erased).toMatchObject({ families: 1, apps: 1 });
    expect(await everything()).not.toContain('amy-the-maker');
    const { rows } = await owner.query(
      'SELECT status, owner_id FROM "authorization".app WHERE client_id = $1',
      [clientId],
    );
    expect(rows).toEqual([{ status: 'revoked', owner_id: '' }]);
  });

  test.each(BAD_USER_IDS)('refuses a user id %s', async (_, userId) => {
    expect(await reasonOf(harness.operated.eraseUser({ userId }))).toBe('invalid_request');
  });
});
