import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Verdict } from '@phds/contracts/phds/consent/v1/access_pb';
import { Endpoint } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import pg from 'pg';
import { type Harness, reading, reasonOf, refusalOf, startHarness } from './harness.ts';
import { askChanges, EVERYTHING, heart, noon } from './sync-asks.ts';

let harness: Harness;
let admin: pg.Client;
beforeAll(async () => {
  harness = await startHarness();
  admin = new pg.Client({ connectionString: harness.database.adminUrl });
  await admin.connect();
  await admin.query(`SET search_path TO ${harness.database.schema}`);
});
afterAll(async () => {
  await admin.end();
  await harness[Symbol.asyncDispose]();
});
beforeEach(() => harness.consent.forget());

const ask = (userId: string, asked?: Parameters<typeof askChanges>[2]) => askChanges(harness, userId, asked);

describe('a cursor expires', () => {
  test('when the person was erased, also if as much data has come again', async () => {
    await harness.putReadings('erased', [heart(1)]);
    const { sync } = await ask('erased');
    await harness.ingestion.eraseUser({ userId: 'erased' });
    expect(await reasonOf(ask('erased', { since: sync.cursor }))).toBe('cursor_expired');
    await harness.putReadings('erased', [heart(1)]);
    expect(await reasonOf(ask('erased', { since: sync.cursor }))).toBe('cursor_expired');
  });

  test('when a backup was restored that lacks its last change, also if other changes came since', async () => {
    await harness.putReadings('restored', [heart(1)]);
    await harness.putReadings('restored', [heart(2)]);
    const { sync } = await ask('restored');
    await admin.query("DELETE FROM reading_change WHERE user_id = 'restored' AND number = 2");
    await admin.query("DELETE FROM reading WHERE user_id = 'restored' AND change_number = 2");
    expect(await reasonOf(ask('restored', { since: sync.cursor }))).toBe('cursor_expired');
    await harness.putReadings('restored', [heart(3)]);
    // Its time is later than that of the lost one, which a fast machine could miss by less than a millisecond.
    await admin.query(
      "UPDATE reading_change SET at = at + interval '1 ms' WHERE user_id = 'restored' AND number = 2",
    );
    expect(await reasonOf(ask('restored', { since: sync.cursor }))).toBe('cursor_expired');
  });

  test('and this answer is recorded and judged like data', async () => {
    await harness.putReadings('recorded', [heart(1)]);
    const { sync } = await ask('recorded');
    await harness.ingestion.eraseUser({ userId: 'recorded' });
    harness.consent.forget();
    expect(await reasonOf(ask('recorded', { since: sync.cursor }))).toBe('cursor_expired');
    expect(harness.consent.accesses).toMatchObject([
      { endpoint: '/api/v1/health-data/heart', recordCount: 0 },
    ]);
    harness.consent.judge = () => Verdict.GRANT_REVOKED;
    expect(await reasonOf(ask('recorded', { since: sync.cursor }))).toBe('unauthorized');
  });
});

describe('a cursor is refused', () => {
  const REFUSED = 'updatedSince: is not a cursor that this list has given to this app for this person';

  test('by another category, type, person or app, and when it was changed', async () => {
    await harness.putReadings('bound', [heart(1), reading('Steps', noon(1), 5)]);
    const since = (await ask('bound')).sync.cursor as string;
    const changed = `${since.slice(0, 30)}${since[30] === 'A' ? 'B' : 'A'}${since.slice(31)}`;
    for (const refused of [
      () => ask('bound', { since, category: 'activity' }),
      () => ask('bound', { since, type: 'HRV' }),
      () => ask('other', { since }),
      () => ask('bound', { since, about: { clientId: 'app_other' } }),
      () => ask('bound', { since: changed }),
      () => ask('bound', { since: 'cur_' }),
      () => ask('bound', { since: `cur_${'A'.repeat(80)}` }),
      () => ask('bound', { since: 'yesterday' }),
    ]) {
      expect((await refusalOf(refused())).message).toBe(REFUSED);
    }
  });

  test('together with from or to, and by endpoints without changes', async () => {
    const about = await harness.about('bound');
    const parameters = { updatedSince: EVERYTHING, from: '2026-01-01' };
    const both = harness.reads.read({ endpoint: Endpoint.HEALTH_DATA, category: 'heart', parameters }, about);
    expect((await refusalOf(both)).message).toBe('updatedSince: excludes from and to');
    const elsewhere = harness.reads.read(
      { endpoint: Endpoint.MOOD, parameters: { updatedSince: EVERYTHING } },
      about,
    );
    expect((await refusalOf(elsewhere)).violations).toMatchObject([{ parameter: 'updatedSince' }]);
  });
});
