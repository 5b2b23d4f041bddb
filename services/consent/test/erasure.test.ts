import { describe, expect, test } from '@jest/globals';
import { Verdict } from '@phds/contracts/phds/consent/v1/access_pb';
import { BAD_USER_IDS, GOOD_USER_IDS } from '@phds/test-kit/user-ids';
import { accessOf, approve, openPending, record, registerApp, shareConsent } from './running-service.ts';
import { verifyRecords } from './verify-command.ts';

const consent = await shareConsent();
const app = await registerApp(consent, 'developer');

const erase = (userId: string) => consent.asOperator.eraseUser({ userId });

/** All texts in the tables of both schemas. */
async function everything(): Promise<string> {
  const rows = await consent.rows(`SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
     WHERE schemaname IN ('consent', 'consent_audit') AND tablename <> '_prisma_migrations'`);
  const texts: string[] = [];
  for (const { name } of rows) {
    const { rows: contents } = await consent.owner.query(`SELECT t::text AS text FROM ${name} t`);
    texts.push(...contents.map((row) => `${name} ${row.text}`));
  }
  return texts.join('\n');
}

async function refOfPerson(userId: string): Promise<string> {
  const rows = await consent.rows('SELECT user_ref FROM person WHERE user_id = $1', userId);
  return rows[0].user_ref;
}

/** The distinct references by which records of each of these grants identify a person. */
async function refsOfRecords(grantIds: readonly string[]): Promise<Map<string, string[]>> {
  const { rows } = await consent.owner.query<{ id: string; refs: string[] }>(
    `SELECT grant_id AS id, array_agg(DISTINCT user_ref::text) AS refs FROM access_record
     WHERE grant_id = ANY($1) GROUP BY 1`,
    [grantIds],
  );
  return new Map(rows.map(({ id, refs }) => [id, refs]));
}

describe('erasing a person', () => {
  test('removes grants, decisions and every link from the records, which stay and verify', async () => {
    const other = await approve(consent, app, 'bystander');
    const grant = await approve(consent, app, 'person-to-erase');
    const pending = await openPending(consent, app);
    await consent.as('person-to-erase').getPendingApproval({ id: pending });
    const access = accessOf(grant);
    expect(await record(consent, access)).toBe(Verdict.RELEASED);
    expect(await record(consent, accessOf(other))).toBe(Verdict.RELEASED);
    const owned = await registerApp(consent, 'person-to-erase');
    expect(await everything()).toContain('person-to-erase');

    expect(await erase('person-to-erase')).toMatchObject({ grants: 1, pendingApprovals: 2 });

    expect(await everything()).not.toContain('person-to-erase');
    expect(await everything()).toContain(owned.clientId);
    const rows = await consent.rows(
      `SELECT count(*)::int AS records, count(person.user_id)::int AS linked
       FROM access_record LEFT JOIN person USING (user_ref) WHERE grant_id = $1`,
      grant.grantId,
    );
    expect(rows).toEqual([{ records: 1, linked: 0 }]);
    expect(await verifyRecords(consent)).toMatchObject({ ok: true });
    const session = await consent.session('person-to-erase');
    expect(await consent.asGateway.listGrants({}, session)).toMatchObject({ grants: [], total: 0 });
    expect(await consent.history.listAccesses({}, session)).toMatchObject({ accesses: [], total: 0 });
    expect((await consent.as('bystander').listAccesses({})).total).toBe(1);
  });

  test('makes later accesses refused, in records without a person', async () => {
    const grant = await approve(consent, app, 'late-reader');
    expect(await record(consent, accessOf(grant))).toBe(Verdict.RELEASED);
    await erase('late-reader');
    expect(await record(consent, accessOf(grant))).toBe(Verdict.GRANT_REVOKED);
    expect(await everything()).not.toContain('late-reader');
    const liveness = { clientId: app.clientId, appEpoch: 1, grantId: grant.grantId, familyId: 'fam_x' };
    expect((await consent.checkLiveness(liveness)).grant).toBeUndefined();
  });

  test('stays in effect when the person consents again: the first read is released, and no record links the two identities', async () => {
    const before = await approve(consent, app, 'returning');
    expect(await record(consent, accessOf(before))).toBe(Verdict.RELEASED);
    await erase('returning');
    const after = await approve(consent, app, 'returning');
    expect(await record(consent, accessOf(after))).toBe(Verdict.RELEASED);
    // A token from before the erasure, still cached somewhere.
    expect(await record(consent, accessOf(before))).toBe(Verdict.GRANT_REVOKED);
    const refs = await refsOfRecords([before.grantId, after.grantId]);
    expect(refs.get(after.grantId)).toEqual([await refOfPerson('returning')]);
    expect(refs.get(before.grantId)).not.toContain(await refOfPerson('returning'));
    const { accesses, total } = await consent.as('returning').listAccesses({});
    expect(total).toBe(1);
    expect(accesses).toMatchObject([{ grantId: after.grantId, verdict: Verdict.RELEASED }]);
  });

  test('of an unknown or erased person removes nothing', async () => {
    await approve(consent, app, 'twice');
    expect(await erase('twice')).toMatchObject({ grants: 1 });
    expect(await erase('twice')).toMatchObject({ grants: 0, pendingApprovals: 0 });
    expect(await erase('never-seen')).toMatchObject({ grants: 0, pendingApprovals: 0 });
  });

  test.each(GOOD_USER_IDS)('accepts a user id %s', async (_, userId) => {
    await approve(consent, app, userId);
    expect(await erase(userId)).toMatchObject({ grants: 1 });
  });

  test.each(BAD_USER_IDS)('refuses a user id %s', async (_, userId) => {
    await expect(erase(userId)).rejects.toMatchObject({
      reason: 'invalid_request',
      violations: [{ parameter: 'userId' }],
    });
  });

  test('concurrently with approvals leaves no grant without its person', async () => {
    const apps = await Promise.all(Array.from({ length: 6 }, () => registerApp(consent)));
    const attempts = apps.map((each) => approve(consent, each, 'racing'));
    const erasures = [erase('racing'), erase('racing'), erase('racing')];
    await Promise.allSettled([...attempts, ...erasures]);
    const rows =
      await consent.rows(`SELECT count(*)::int AS n FROM consent_grant g LEFT JOIN person p USING (user_id, user_ref)
       WHERE p.user_id IS NULL`);
    expect(rows).toEqual([{ n: 0 }]);
    await erase('racing');
    expect(await everything()).not.toContain('racing');
  });
});
