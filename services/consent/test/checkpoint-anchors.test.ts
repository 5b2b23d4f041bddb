import { createHash } from 'node:crypto';
import { appendFile, copyFile, readFile, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type CheckpointAnchor, parseAnchor, toAnchor } from '@phds/record-chain/anchor';
import { ConfigError } from '@phds/service-kit/settings/config';
import { createLogger } from '@phds/service-kit/telemetry/log';
import { eventually } from '@phds/test-kit/conditions';
import { openFilesOfTest } from '@phds/test-kit/files-of-test';
import { listenOnLoopback } from '@phds/test-kit/loopback';
import { shared } from '@phds/test-kit/shared';
import { createCheckpointAnchors } from '../src/app/checkpoint-anchors.ts';
import { createFileAnchors } from '../src/clients/file-anchors.ts';
import { createS3Anchors } from '../src/clients/s3-anchors.ts';
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
        lines.push(chunk.toString());
        done();
      },
    });
    const log = createLogger({ service: 'consent', destination });
    const settings = { CHECKPOINT_INTERVAL_MS: '20', ANCHOR_PATH: path('anchors') };
    consent = await startConsent({ settings, overrides: { log } });
    const grant = await approve(consent, await registerApp(consent), 'ada');
    for (let number = 1; number <= CHECKPOINTS; number += 1) {
      await record(consent, accessOf(grant));
      await eventually(async () => expect(await anchorsIn('anchors')).toHaveLength(number));
    }
    await consent.service[Symbol.asyncDispose]();
  });
  afterAll(() => consent[Symbol.asyncDispose]());

  test('the log, the file and the command name the same checkpoint, which verifies', async () => {
    const { code, stdout } = await phdsRecords(consent, ['checkpoint']);
    expect(code).toBe(0);
    const newest = parseAnchor(stdout);
    expect(newest).toEqual((await anchorsIn('anchors')).at(-1));
    expect(newest).toMatchObject({ number: CHECKPOINTS, signature: expect.stringMatching(/^[\w-]{86}$/) });
    const logged = lines.filter((line) => line.includes('checkpoint of the access records'));
    expect(parseAnchor(logged.at(-1) ?? '')).toEqual(newest);
    await writeFile(path('log'), logged.join(''));
    for (const expected of ['anchors', 'log']) {
      expect(await verifyRecords(consent, { expect: path(expected) })).toMatchObject({
        ok: true,
        anchors: CHECKPOINTS,
      });
    }
  });

  test('an anchor that proves nothing is refused instead of calling the records verified', async () => {
    await writeFile(path('empty'), '\n');
    await writeFile(path('other'), '{"number": 1}\n');
    for (const [name, error] of [
      ['empty', 'no anchor of a checkpoint that is kept'],
      ['other', 'line 1 is not an anchor'],
      ['missing', 'ENOENT'],
    ] as const) {
      const { ok, error: said } = await verifyRecords(consent, { expect: path(name) });
      expect({ ok, said }).toEqual({ ok: false, said: expect.stringContaining(error) });
    }
  });

  test('an anchor that was written after the database was read is not missed in it', async () => {
    await copyFile(path('anchors'), path('growing'));
    const later = { ...(await anchorsIn('anchors')).at(-1), number: CHECKPOINTS + 1 };
    const onConnected = () => appendFile(path('growing'), `${JSON.stringify(later)}\n`);
    expect(await verifyRecords(consent, { expect: path('growing'), onConnected })).toMatchObject({
      ok: true,
      anchors: CHECKPOINTS,
    });
  });

  test('an anchor that was written in part is reported, and hides no other', async () => {
    const [first, second] = await anchorsIn('anchors');
    await writeFile(path('torn'), `${JSON.stringify(first)}\n${JSON.stringify(first).slice(0, 30)}`);
    await createFileAnchors(path('torn')).write(second!);
    expect(await verifyRecords(consent, { expect: path('torn') })).toMatchObject({
      ok: true,
      anchors: 2,
      incompleteAnchors: 1,
    });
    await createFileAnchors(path('torn')).write({ ...second!, number: CHECKPOINTS + 1 });
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
    expect(await verifyRecords(consent, { expect: path('anchors') })).toMatchObject({
      ok: false,
      fault: {
        kind: 'removed',
        subject: 'checkpoint',
        detail: expect.stringMatching(/^the anchor from \S+Z names checkpoint 3, which is gone$/),
      },
    });
    // As where the service has signed the number again, for what came after the cut.
    const [first] = await anchorsIn('anchors');
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

const ANCHOR = toAnchor(`e30.${Buffer.from('{"number":7,"iat":1770000000}').toString('base64url')}.c2ln`);

test('an anchor becomes an object that is locked, signed for its bucket and named by its head', async () => {
  const received: { method?: string; url?: string; headers: IncomingHttpHeaders; body: string }[] = [];
  let status = 503;
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    received.push({ method, url, headers, body: await text(request) });
    response.writeHead(status).end();
  });
  try {
    const url = `http://127.0.0.1:${await listenOnLoopback(server)}/records/consent`;
    const account = { region: 'eu-central-1', accessKeyId: 'AKTEST', secretAccessKey: 'secret' };
    const anchors = createS3Anchors({ url, ...account, lockDays: 800 });
    await expect(anchors.write(ANCHOR)).rejects.toThrow('answered 503');
    status = 200;
    await anchors.write(ANCHOR);
    const { method, url: target, headers, body } = received.at(-1)!;
    expect({ method, target }).toEqual({
      method: 'PUT',
      target: `/records/consent/checkpoint-0000000007-${ANCHOR.head}.json`,
    });
    expect(parseAnchor(body)).toEqual(ANCHOR);
    expect(headers).toMatchObject({
      'x-amz-object-lock-mode': 'COMPLIANCE',
      'x-amz-object-lock-retain-until-date': '2028-04-12T02:40:00.000Z',
      'x-amz-checksum-sha256': createHash('sha256').update(body).digest('base64'),
    });
    expect(headers.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKTEST\/\d{8}\/eu-central-1\/s3\/aws4_request, SignedHeaders=host;.*x-amz-object-lock-mode;x-amz-object-lock-retain-until-date, Signature=[0-9a-f]{64}$/,
    );
  } finally {
    server.close();
  }
});

test('a store that fails gets the newest checkpoint later, while others get each', async () => {
  const written: CheckpointAnchor[][] = [[], []];
  let isDown = true;
  const stores = written.map((kept, index) => ({
    async write(anchor: CheckpointAnchor) {
      if (index === 0 && isDown) throw new Error('down');
      kept.push(anchor);
    },
  }));
  const anchors = createCheckpointAnchors({ stores, onSigned: () => undefined });
  const jws = (number: number) =>
    `e30.${Buffer.from(`{"number":${number},"iat":1}`).toString('base64url')}.c2ln`;
  for (const number of [1, 2]) {
    anchors.add(jws(number));
    await expect(anchors.write()).rejects.toThrow('down');
  }
  isDown = false;
  await anchors.write();
  await anchors.write();
  expect(written.map((kept) => kept.map(({ number }) => number))).toEqual([[2], [1, 2]]);
});

test.each([
  [{ ANCHOR_BUCKET: 'http://bucket.example/' }, 'ANCHOR_BUCKET: must be an https URL'],
  [{ ANCHOR_BUCKET: 'https://bucket.example/' }, 'ANCHOR_BUCKET_SECRET: must be set'],
])('a bucket that could not be written to is refused at the start: %j', async (settings, message) => {
  const starting = startConsent({ settings });
  await expect(starting).rejects.toThrow(ConfigError);
  await expect(starting).rejects.toThrow(message);
});
