import { appendFile, copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parseAnchor } from '@phds/record-chain/checkpoint';
import { createLogger } from '@phds/service-kit/telemetry/log';
import { eventually } from '@phds/test-kit/conditions';
import { openFilesOfTest } from '@phds/test-kit/files-of-test';
import { shared } from '@phds/test-kit/shared';
import { connectAsSuperuser } from './database-clients.ts';
import {
  accessOf,
  approve,
  type RunningService,
  record,
  registerApp,
  startConsent,
} from './running-service.ts';
import { phdsRecords, verifyRecords } from './verify-command.ts';

const CHECKPOINTS = 4;

const path = (name: string) => join(directory, name);
const anchorsIn = async (name: string) =>
  (await readFile(path(name), 'utf8')).split('\n').filter(Boolean).map(parseAnchor);

const { directory } = shared.use(openFilesOfTest());

describe('a history whose end is cut off', () => {
  let consent: RunningService;
  const lines: string[] = [];

  beforeAll(async () => {
    const destination = new Writable({
      write(chunk: Buffer, _encoding, done) {
        const line = chunk.toString();
        if (line.includes('checkpoint of the access records')) lines.push(line);
        done();
      },
    });
    const log = createLogger({ service: 'consent', destination });
    const settings = { CHECKPOINT_INTERVAL_MS: '20' };
    consent = await startConsent({ settings, overrides: { log } });
    const grant = await approve(consent, await registerApp(consent), 'ada');
    for (let number = 1; number <= CHECKPOINTS; number += 1) {
      await record(consent, accessOf(grant));
      await eventually(() => expect(lines).toHaveLength(number));
    }
    await consent.service[Symbol.asyncDispose]();
    await writeFile(path('log'), lines.join(''));
  });
  afterAll(() => consent[Symbol.asyncDispose]());

  test('the log and the command name the same checkpoint, which verifies', async () => {
    const { code, stdout } = await phdsRecords(consent, ['checkpoint']);
    expect(code).toBe(0);
    const newest = parseAnchor(stdout);
    expect(newest).toEqual(parseAnchor(lines.at(-1) ?? ''));
    expect(newest).toMatchObject({ number: CHECKPOINTS, signature: expect.stringMatching(/^[\w-]{86}$/) });
    expect(await verifyRecords(consent, { expect: path('log') })).toMatchObject({
      ok: true,
      anchors: CHECKPOINTS,
    });
  });

  test('an anchor that proves nothing is refused instead of calling the records verified', async () => {
    await writeFile(path('empty'), '\n');
    await writeFile(path('other'), '{"number": 1}\n');
    for (const [name, error] of [
      ['empty', 'no anchor of a checkpoint'],
      ['other', 'line 1 is not an anchor'],
      ['missing', 'ENOENT'],
    ] as const) {
      const { ok, error: said } = await verifyRecords(consent, { expect: path(name) });
      expect({ ok, said }).toEqual({ ok: false, said: expect.stringContaining(error) });
    }
  });

  test('an anchor that was written after the database was read is not missed in it', async () => {
    await copyFile(path('log'), path('growing'));
    const later = { ...(await anchorsIn('log')).at(-1), number: CHECKPOINTS + 1 };
    const onConnected = () => appendFile(path('growing'), `${JSON.stringify(later)}\n`);
    expect(await verifyRecords(consent, { expect: path('growing'), onConnected })).toMatchObject({
      ok: true,
      anchors: CHECKPOINTS,
    });
  });

  test('an anchor that was written in part is reported, and hides no other', async () => {
    const [first, second] = await anchorsIn('log');
    const lines = [first, second].map((anchor) => JSON.stringify(anchor));
    await writeFile(path('torn'), `${lines[0]}\n${lines[0]?.slice(0, 30)}\n${lines[1]}\n`);
    expect(await verifyRecords(consent, { expect: path('torn') })).toMatchObject({
      ok: true,
      anchors: 2,
      incompleteAnchors: 1,
    });
    await appendFile(path('torn'), `${JSON.stringify({ ...second, number: CHECKPOINTS + 1 })}\n`);
    expect(await verifyRecords(consent, { expect: path('torn') })).toMatchObject({
      fault: { kind: 'removed', subject: 'checkpoint' },
    });
  });

  test('is found with an anchor from outside the database, and only so', async () => {
    const admin = await connectAsSuperuser(consent.database);
    await admin.query('DELETE FROM consent_audit.access_checkpoint WHERE number > 2');
    await admin.query('DELETE FROM access_record WHERE seq >= 2');
    await admin.query('DELETE FROM access_batch WHERE seq >= 2');
    await admin.end();
    expect(await verifyRecords(consent)).toMatchObject({ ok: true, checkpoints: 2 });
    expect(await verifyRecords(consent, { expect: path('log') })).toMatchObject({
      ok: false,
      fault: {
        kind: 'removed',
        subject: 'checkpoint',
        detail: expect.stringMatching(/^the anchor from \S+Z names checkpoint 3, which is gone$/),
      },
    });
    // As where the service has signed the number again, for what came after the cut.
    const [first] = await anchorsIn('log');
    for (const [signedAt, kind] of [
      ['2000-01-01T00:00:00.000Z', 'removed'],
      ['9999-01-01T00:00:00.000Z', 'changed'],
    ]) {
      await writeFile(path('rewritten'), JSON.stringify({ ...first, number: 2, signedAt }));
      expect(await verifyRecords(consent, { expect: path('rewritten') })).toMatchObject({
        fault: { kind, subject: 'checkpoint' },
      });
    }
  });
});
