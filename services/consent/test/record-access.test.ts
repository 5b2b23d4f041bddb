import { createHash } from 'node:crypto';
import { Writable } from 'node:stream';
import { afterEach, describe, expect, test } from '@jest/globals';
import { OBSERVATION_SCOPES } from '@phds/catalog/fhir/observation-kinds';
import { formatScopeList } from '@phds/catalog/scopes';
import { Verdict } from '@phds/contracts/phds/consent/v1/access_pb';
import { AppStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { readStatement } from '@phds/service-kit/postgres/sql';
import { createLogger } from '@phds/service-kit/telemetry/log';
import { FakeClock } from '@phds/test-kit/fake-clock';
import type { AccessStatements } from '../src/access/statements.ts';
import { connect } from './database-clients.ts';
import { startDatedRecorder } from './dated-records.ts';
import {
  accessOf,
  approve,
  GLUCOSE,
  HEART,
  MOOD,
  record,
  registerApp,
  shareConsent,
  startConsent,
} from './running-service.ts';
import { verifyRecords } from './verify-command.ts';

let between: () => Promise<unknown> = async () => undefined;

const lines: string[] = [];
const log = createLogger({ service: 'consent', destination: { write: (line) => void lines.push(line) } });
const consent = await shareConsent({ overrides: { accessStatements: interrupted, log } });
const app = await registerApp(consent);

async function lastRecord(userId: string) {
  const rows = await consent.rows(
    `SELECT r.*, f.verdict FROM access_record r LEFT JOIN access_record f ON f.refers_to = r.id
     WHERE r.user_ref = (SELECT user_ref FROM person WHERE user_id = $1) AND r.refers_to IS NULL
     ORDER BY r.id DESC LIMIT 1`,
    userId,
  );
  return rows[0];
}

describe('an access under a live grant', () => {
  test('is released, with a record of what was read and nothing of the token', async () => {
    const grant = await approve(consent, app, 'reader');
    const access = accessOf(grant);
    expect(await record(consent, access)).toBe(Verdict.RELEASED);
    const row = await lastRecord('reader');
    expect(row).toMatchObject({
      client_id: app.clientId,
      grant_id: grant.grantId,
      scope: HEART,
      endpoint: '/api/v1/health-data/heart',
      window_from: '2026-01-01',
      window_to: '',
      page: 1,
      record_count: 20,
      request_id: access.requestId,
      verdict: null,
    });
    expect(row.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab]/);
    expect(Math.abs(row.at.getTime() - Date.now())).toBeLessThan(60_000);
    expect(JSON.stringify(row)).not.toContain(access.tokenHash.toString('hex'));
    expect(JSON.stringify(row)).not.toContain('reader');
  });

  test('is judged separately from others of the same batch, in the order of the batch', async () => {
    const grant = await approve(consent, app, 'batch');
    const accesses = [
      accessOf(grant),
      { ...accessOf(grant), scope: MOOD },
      { ...accessOf(grant), userId: 'somebody-else' },
      { ...accessOf(grant), scope: GLUCOSE },
    ];
    const { verdicts } = await consent.records.recordAccess({ accesses });
    expect(verdicts).toEqual([
      Verdict.RELEASED,
      Verdict.SCOPE_WITHDRAWN,
      Verdict.GRANT_REVOKED,
      Verdict.RELEASED,
    ]);
  });

  test('of several scopes is released while all of them are held', async () => {
    const all = [...OBSERVATION_SCOPES];
    const grant = await approve(consent, await registerApp(consent), 'several', { requested: all });
    const access = { ...accessOf(grant), scope: formatScopeList(all), endpoint: '/fhir/R4/Observation/{id}' };
    expect(await record(consent, access)).toBe(Verdict.RELEASED);
    expect(await lastRecord('several')).toMatchObject({ scope: access.scope, endpoint: access.endpoint });
    const scopes = all.filter((scope) => scope !== MOOD);
    await consent.as('several').narrowGrant({ id: grant.grantId, setScopes: true, scopes });
    expect(await record(consent, access)).toBe(Verdict.SCOPE_WITHDRAWN);
    expect(await record(consent, { ...access, scope: scopes.join(' ') })).toBe(Verdict.RELEASED);
    for (const scope of ['', 'x'.repeat(513)]) {
      await expect(record(consent, { ...access, scope })).rejects.toMatchObject({
        reason: 'invalid_request',
      });
    }
  });

  test('is recorded in batches of up to 500', async () => {
    const grant = await approve(consent, app, 'bulk');
    const accesses = Array.from({ length: 500 }, () => accessOf(grant));
    const { verdicts } = await consent.records.recordAccess({ accesses });
    expect(new Set(verdicts)).toEqual(new Set([Verdict.RELEASED]));
    expect(verdicts).toHaveLength(500);
    const rows = await consent.rows(
      'SELECT count(*)::int AS n FROM access_record WHERE grant_id = $1',
      grant.grantId,
    );
    expect(rows).toEqual([{ n: 500 }]);
    await expect(
      consent.records.recordAccess({ accesses: [...accesses, accessOf(grant)] }),
    ).rejects.toMatchObject({ reason: 'invalid_request' });
  });
});

describe('an access is recorded and refused', () => {
  type Cause = (access: ReturnType<typeof accessOf>) => unknown;
  const narrow =
    (change: object): Cause =>
    ({ grantId: id, userId }) =>
      consent.as(userId).narrowGrant({ id, ...change });
  const setStatus =
    (status: AppStatus): Cause =>
    ({ clientId }) =>
      consent.ledger.setAppStatus({ clientId, status });
  const change =
    (changes: object): Cause =>
    (access) =>
      Object.assign(access, changes);
  const expire: Cause = ({ grantId }) =>
    consent.owner.query('UPDATE consent_grant SET expires_at = now() WHERE id = $1', [grantId]);
  const revokeGrant: Cause = ({ grantId: id, userId }) => consent.as(userId).revokeGrant({ id });

  test.each<[name: string, happens: string, cause: Cause]>([
    ['token_expired', 'the token expired', change({ tokenExpiresAt: Math.floor(Date.now() / 1000) - 5 })],
    ['token_revoked', 'it was revoked', ({ tokenHash }) => consent.revokeToken(tokenHash)],
    ['family_revoked', 'its family was', ({ familyId }) => consent.revokeFamily(familyId)],
    ['grant_revoked', 'its grant was', revokeGrant],
    ['grant_expired', 'its grant expired', expire],
    ['scope_withdrawn', 'its scope was withdrawn', narrow({ setScopes: true, scopes: [GLUCOSE] })],
    ['window_changed', 'its grant starts later', narrow({ dataFrom: '2026-01-01' })],
    ['app_not_alive', 'its app was suspended', setStatus(AppStatus.SUSPENDED)],
    ['app_not_alive', 'its app was revoked', setStatus(AppStatus.REVOKED)],
    ['app_not_alive', 'its app is unknown', change({ clientId: 'app_unknown' })],
  ])('as %s, at the first call after %s', async (name, happens, cause) => {
    const grant = await approve(consent, await registerApp(consent), happens);
    const access = accessOf(grant);
    expect(await record(consent, access)).toBe(Verdict.RELEASED);
    await cause(access);
    expect(Verdict[(await record(consent, access)) ?? 0]).toBe(name.toUpperCase());
    expect(await lastRecord(happens)).toMatchObject({ verdict: name, request_id: access.requestId });
  });

  test('as grant_revoked for a grant that does not exist, without a person', async () => {
    const access = { ...accessOf(await approve(consent, app, 'known')), grantId: 'grt_unknown' };
    expect(await record(consent, access)).toBe(Verdict.GRANT_REVOKED);
    const rows = await consent.rows(
      'SELECT user_ref FROM access_record WHERE request_id = $1',
      access.requestId,
    );
    expect(rows.map((row) => row.user_ref)).toEqual(Array(2).fill('00000000-0000-0000-0000-000000000000'));
  });

  test('when its window differs from that of the grant', async () => {
    const grant = await approve(consent, app, 'window', { dataFrom: '2026-02-01' });
    expect(await record(consent, { ...accessOf(grant), dataFrom: '2026-02-01' })).toBe(Verdict.RELEASED);
    expect(await record(consent, accessOf(grant))).toBe(Verdict.WINDOW_CHANGED);
  });
});

describe('a suspended app', () => {
  test('can read again with the same token once it is active again', async () => {
    const paused = await registerApp(consent);
    const access = accessOf(await approve(consent, paused, 'paused'));
    await consent.ledger.setAppStatus({ clientId: paused.clientId, status: AppStatus.SUSPENDED });
    expect(await record(consent, access)).toBe(Verdict.APP_NOT_ALIVE);
    await consent.ledger.setAppStatus({ clientId: paused.clientId, status: AppStatus.ACTIVE });
    expect(await record(consent, access)).toBe(Verdict.RELEASED);
  });
});

/** The real store, with a moment for the test before its judgement. */
function interrupted(store: AccessStatements): AccessStatements {
  return {
    ...store,
    judge: async (...judged) => {
      await between();
      return store.judge(...judged);
    },
  };
}

describe('record and judgement', () => {
  afterEach(() => {
    between = async () => undefined;
  });

  test('the record is committed and visible to others before the judgement begins', async () => {
    const grant = await approve(consent, await registerApp(consent), 'order');
    const access = accessOf(grant);
    let seen: unknown;
    between = async () => {
      const rows = await consent.rows(
        'SELECT request_id FROM access_record WHERE grant_id = $1',
        grant.grantId,
      );
      seen = rows;
    };
    expect(await record(consent, access)).toBe(Verdict.RELEASED);
    expect(seen).toEqual([{ request_id: access.requestId }]);
  });

  test('a revocation acknowledged between record and judgement is effective', async () => {
    const grant = await approve(consent, await registerApp(consent), 'race');
    const session = await consent.session('race');
    between = async () => consent.asGateway.revokeGrant({ id: grant.grantId }, session);
    expect(await record(consent, accessOf(grant))).toBe(Verdict.GRANT_REVOKED);
  });

  const replaceReference = (grantId: string) =>
    consent.owner.query('UPDATE consent_grant SET user_ref = gen_random_uuid() WHERE id = $1', [grantId]);
  const failDefectively = () => consent.owner.query('SELECT unknown');

  test.each<[string, (grantId: string) => Promise<unknown>, object]>([
    [
      'for a grant whose reference was not known yet',
      replaceReference,
      { level: 'warn', msg: 'rpc refused' },
    ],
    ['for a defect', failDefectively, { level: 'error', msg: 'rpc failed' }],
  ])('an access that is not recorded %s is logged at its level', async (_, interrupt, line) => {
    const { grantId, ...grant } = await approve(consent, await registerApp(consent), 'logged');
    between = () => interrupt(grantId);
    lines.length = 0;
    const access = accessOf({ grantId, ...grant });
    await expect(record(consent, access)).rejects.toMatchObject({ reason: 'access_not_recorded' });
    const logged = lines.map((text) => JSON.parse(text)).filter(({ rpc }) => rpc !== undefined);
    expect(logged).toMatchObject([line]);
  });
});

describe('records', () => {
  test.each([
    'UPDATE access_record SET record_count = 0',
    'DELETE FROM access_record',
    'TRUNCATE access_record',
    'UPDATE access_batch SET hash = hash',
    'DELETE FROM access_batch',
    'TRUNCATE access_batch',
    'UPDATE access_record_default SET record_count = 0',
    'DELETE FROM access_batch_default',
    'UPDATE consent_audit.access_checkpoint SET jws = jws',
    'DELETE FROM consent_audit.access_checkpoint',
    'DELETE FROM consent_audit.access_dropped',
    'TRUNCATE consent_audit.access_dropped',
    "UPDATE consent_audit.restore SET kind = 'first'",
    'DELETE FROM consent_audit.restore',
    'DELETE FROM consent_audit.restore_confirmation',
    'DELETE FROM consent_event',
    "UPDATE consent_audit.operator_act SET reason = 'another'",
    'DELETE FROM consent_audit.operator_act',
  ])('are append-only for the service and the owner: %s', async (statement) => {
    const runtime = await connect(consent.database.url);
    await expect(runtime.query(statement)).rejects.toThrow(/permission denied/);
    await runtime.end();
    await expect(consent.owner.query(statement)).rejects.toThrow(/append-only/);
  });

  test('are refused completely when one item of the batch is malformed', async () => {
    const grant = await approve(consent, await registerApp(consent), 'malformed');
    const accesses = [
      accessOf(grant),
      { ...accessOf(grant), tokenHash: createHash('md5').update('').digest() },
    ];
    await expect(consent.records.recordAccess({ accesses })).rejects.toMatchObject({
      reason: 'invalid_request',
    });
    const rows = await consent.rows('SELECT 1 FROM access_record WHERE grant_id = $1', grant.grantId);
    expect(rows).toEqual([]);
  });
});

const UNKNOWN_STATE = `CREATE OR REPLACE VIEW consent_audit.suspension AS
  SELECT 0 AS below, '-infinity'::timestamptz AS until, NULL::boolean AS identified`;

test.each([
  ['nothing that is right', 'released', {}, ''],
  ['an unknown state of restores', 'unverified', {}, UNKNOWN_STATE],
  ['an empty scope', 'scope_withdrawn', { scope: '' }, ''],
  ['no scope', 'scope_withdrawn', { scope: null }, ''],
  ['no expiry', 'token_expired', { tokenExpiresAt: null }, ''],
  ['no person', 'grant_revoked', { userId: null }, ''],
  ['no window', 'window_changed', { dataFrom: null }, ''],
])('the statement of the judgement refuses %s (%s)', async (_, verdict, change, before) => {
  const grant = await approve(consent, app, 'judged');
  const judged = { ...accessOf(grant), ...change };
  const admin = await connect(consent.database.adminUrl);
  try {
    await admin.query(`BEGIN; ${before}`);
    const { text } = readStatement(new URL('../src/store/sql/judge-accesses.sql', import.meta.url));
    const refs = 'SELECT user_ref FROM consent_grant WHERE id = $1';
    const { rows } = await admin.query(refs, [grant.grantId]);
    const { clientId, userId, grantId, familyId, tokenHash, tokenExpiresAt, scope, dataFrom } = judged;
    const columns = [clientId, userId, grantId, familyId, tokenHash, tokenExpiresAt, scope, dataFrom];
    const values = [...columns, rows[0].user_ref].map((value) => [value]);
    const answer = await admin.query({ text, values: [...values, null, null], rowMode: 'array' });
    expect(answer.rows).toEqual([[verdict]]);
  } finally {
    await admin.end();
  }
});

const MINUTE_MS = 60_000;

describe('the clock of the process', () => {
  test.each([
    ['ahead of the clock of the database', MINUTE_MS],
    ['behind the clock of the database', -MINUTE_MS],
  ])(
    'nothing is recorded or released while the clock of the process is a minute %s; afterwards everything is again',
    async (_, difference) => {
      const lines: { level: string }[] = [];
      const stream = new Writable({
        write(chunk, _encoding, done) {
          lines.push(JSON.parse(String(chunk)));
          done();
        },
      });
      const clock = new FakeClock(new Date());
      const log = createLogger({ service: 'consent', destination: stream });
      await using consent = await startConsent({ overrides: { clock, log } });
      const grant = await approve(consent, await registerApp(consent), 'ada');
      const recordAt = (away: number) => {
        clock.set(new Date(Date.now() + away));
        return record(consent, accessOf(grant));
      };
      expect(await recordAt(0)).toBe(Verdict.RELEASED);
      for (const away of [difference, difference]) {
        await expect(recordAt(away)).rejects.toMatchObject({
          reason: 'access_not_recorded',
          retryAfterSeconds: 1,
        });
      }
      const errors = lines.filter(({ level }) => level === 'error');
      expect(errors).toHaveLength(2);
      const [, processClock = '', databaseClock = ''] =
        /clock of this process shows (\S+), that of the database (\S+):/.exec(JSON.stringify(errors[0])) ??
        [];
      const logged = Date.parse(processClock) - Date.parse(databaseClock);
      expect(Math.sign(logged)).toBe(Math.sign(difference));
      expect(Math.abs(logged)).toBeGreaterThan(30_000);
      // Smaller differences are tolerated.
      for (const away of [0, difference / 10, 0]) expect(await recordAt(away)).toBe(Verdict.RELEASED);
      expect(lines.filter(({ level }) => level === 'error')).toHaveLength(2);
      expect(await verifyRecords(consent)).toMatchObject({ ok: true, records: 4 });
    },
  );

  test('a batch that is refused for its time leaves nothing in any table', async () => {
    await using consent = await startConsent();
    await using dated = startDatedRecorder(
      consent.database.url,
      new FakeClock('2027-05-15T12:00:00Z'),
      30_000,
    );
    const access = accessOf({ grantId: 'grt_1', clientId: 'app_1', userId: 'ada' });
    await expect(dated.recorder.record([access])).rejects.toMatchObject({ reason: 'access_not_recorded' });
    const rows =
      await consent.rows(`SELECT (SELECT count(*) FROM access_batch) + (SELECT count(*) FROM access_record)
       + (SELECT count(*) FROM access_uncounted) AS rows`);
    expect(rows).toEqual([{ rows: '0' }]);
  });
});
