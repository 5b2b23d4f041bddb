import { Writable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { Verdict } from '@phds/contracts/phds/consent/v1/access_pb';
import { createLogger } from '@phds/service-kit/telemetry/log';
import { FakeClock } from '@phds/test-kit/fake-clock';
import { startDatedRecorder } from './dated-recorder.ts';
import { accessOf, approve, record, registerApp, startConsent } from './running-service.ts';
import { verifyRecords } from './verify-command.ts';

const MINUTE_MS = 60_000;

test.each([
  ['ahead of the clock of the database', MINUTE_MS],
  ['behind the clock of the database', -MINUTE_MS],
])(
  'nothing is recorded or released while the clock of the process is a minute %s; afterwards everything is again',
  async (_, difference) => {
    const lines: { level: string; processClock?: string; databaseClock?: string }[] = [];
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
    expect(errors).toHaveLength(1);
    const { processClock = '', databaseClock = '' } = errors[0] ?? {};
    const logged = Date.parse(processClock) - Date.parse(databaseClock);
    expect(Math.sign(logged)).toBe(Math.sign(difference));
    expect(Math.abs(logged)).toBeGreaterThan(30_000);
    // Smaller differences are tolerated.
    for (const away of [0, difference / 10, 0]) expect(await recordAt(away)).toBe(Verdict.RELEASED);
    expect(lines.filter(({ level }) => level === 'error')).toHaveLength(1);
    expect(await verifyRecords(consent)).toMatchObject({ ok: true, records: 4 });
  },
);

test('a batch that is refused for its time leaves nothing in any table', async () => {
  await using consent = await startConsent();
  await using dated = startDatedRecorder(consent.database.url, new FakeClock('2027-05-15T12:00:00Z'), 30_000);
  const access = accessOf({ grantId: 'grt_1', clientId: 'app_1', userId: 'ada' });
  await expect(dated.recorder.record([access])).rejects.toMatchObject({ reason: 'access_not_recorded' });
  const { rows } = await consent.owner.query(
    `SELECT (SELECT count(*) FROM access_batch) + (SELECT count(*) FROM access_record)
       + (SELECT count(*) FROM access_uncounted) AS rows`,
  );
  expect(rows).toEqual([{ rows: '0' }]);
});
