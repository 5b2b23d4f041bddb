import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from '@jest/globals';
import { AppStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { WebhookOperatorService } from '@phds/contracts/phds/consent/v1/webhooks_pb';
import { eventually } from '@phds/test-kit/conditions';
import { shared } from '@phds/test-kit/shared';
import { WebhookReceiver } from '@phds/test-kit/webhook-receiver';
import { addDueEvents } from '../src/webhooks/events.ts';
import { hostWebhooks } from '../src/webhooks/host-webhooks.ts';
import { openSmallPools } from './database-clients.ts';
import { approve, GLUCOSE, HEART, MOOD, openPending, registerApp, shareConsent } from './running-service.ts';
import { letExpire } from './webhook-harness.ts';

const directory = await mkdtemp(join(tmpdir(), 'host-webhooks-'));
shared.defer(() => rm(directory, { recursive: true }));

async function secretFile(name: string, text: string): Promise<string> {
  const file = join(directory, name);
  await writeFile(file, `${text}\n`);
  return file;
}

/** A receiver that accepts only what is signed with its own secret, and its entry in HOST_WEBHOOKS. */
async function startEndpoint(name: string) {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const receiver = shared.use(await WebhookReceiver.start());
  receiver.use(secret);
  return { receiver, secret, entry: { name, url: receiver.url, secretFile: await secretFile(name, secret) } };
}

const { receiver, secret, entry: crm } = await startEndpoint('crm');
const helpdesk = await startEndpoint('helpdesk');
// Endpoints of apps may not be on this machine, that of the deployment may.
const consent = await shareConsent({
  settings: {
    HOST_WEBHOOKS: JSON.stringify([crm, helpdesk.entry]),
    EGRESS_ALLOW_LOOPBACK: 'false',
    WEBHOOK_CONCURRENCY: '4',
  },
  constants: { WEBHOOK_INTERVAL_MS: 50 },
});
const operators = shared.use(consent.openChannel('operator:on-call')).client(WebhookOperatorService);
await eventually(async () => (await operators.listWebhooks({})).total === 2);
const app = await registerApp(consent);

/** The events about a grant that arrived there, as type and content, as soon as there are so many. */
function arrivedAbout(grantId: string, count: number, at = receiver) {
  return eventually(() => {
    const about = at.events.filter(({ data }) => data.grantId === grantId);
    expect(about).toHaveLength(count);
    return about.map(({ type, data: { grantId: _, ...content } }) => ({ type, ...content }));
  });
}

describe('the deployment is told', () => {
  test('in order that a connection began, changed, was narrowed and ended, with person and app', async () => {
    const userId = 'told';
    const session = await consent.session(userId);
    const { grantId: id } = await approve(consent, app, userId, { requested: [HEART, MOOD] });
    await approve(consent, app, userId, { requested: [HEART, GLUCOSE], dataFrom: '2026-01-01' });
    await consent.asGateway.narrowGrant({ id, scopes: [HEART], setScopes: true }, session);
    await consent.asGateway.revokeGrant({ id }, session);
    const about = { userId, app: { clientId: app.clientId, name: 'Pulse Diary' } };
    const expiresAt = expect.stringMatching(/^20\d\d-.*Z$/);
    expect(await arrivedAbout(id, 4)).toEqual([
      { type: 'connection.began', ...about, scopes: [HEART, MOOD], expiresAt, dataFrom: null },
      {
        type: 'connection.changed',
        ...about,
        scopes: [HEART, GLUCOSE, MOOD],
        expiresAt,
        dataFrom: '2026-01-01',
        before: { scopes: [HEART, MOOD], expiresAt, dataFrom: null },
      },
      { type: 'connection.narrowed', ...about, scopes: [HEART], expiresAt, dataFrom: '2026-01-01' },
      { type: 'connection.ended', ...about, endedBy: 'person' },
    ]);
  });

  test('once when an approval leaves all terms as they were', async () => {
    const session = await consent.session('same');
    const { grantId } = await approve(consent, app, 'same', { requested: [HEART] });
    const id = await openPending(consent, app, [HEART]);
    await consent.asAuthorization.approve({ id, scopes: [HEART], keepExpiry: true }, session);
    await consent.asGateway.revokeGrant({ id: grantId }, session);
    expect((await arrivedAbout(grantId, 2)).map(({ type }) => type)).toEqual([
      'connection.began',
      'connection.ended',
    ]);
  });

  test('that a connection ended by its time, or with its app', async () => {
    const other = await registerApp(consent);
    const expired = await approve(consent, app, 'expired');
    const { grantId } = await approve(consent, other, 'with-app');
    await letExpire(consent, expired.grantId, 60);
    await consent.ledger.setAppStatus({ clientId: other.clientId, status: AppStatus.REVOKED });
    expect((await arrivedAbout(expired.grantId, 2))[1]).toMatchObject({ endedBy: 'expiry' });
    expect((await arrivedAbout(grantId, 2))[1]).toMatchObject({ endedBy: 'developer' });
  });

  test('that the connection of an erased person ended, and then nothing has their id any more', async () => {
    const userId = 'erased-person';
    const { grantId } = await approve(consent, app, userId);
    await arrivedAbout(grantId, 1);
    await consent.asOperator.eraseUser({ userId });
    expect((await arrivedAbout(grantId, 2))[1]).toMatchObject({
      type: 'connection.ended',
      userId,
      endedBy: 'person',
    });
    await eventually(async () =>
      expect(
        await consent.rows(`SELECT id FROM webhook_event WHERE content::text LIKE '%' || $1 || '%'`, userId),
      ).toEqual([]),
    );
  });

  test('once that a connection ends in seven days, and once in one, whatever the number of replicas', async () => {
    const grants = await Promise.all(
      Array.from({ length: 12 }, (_, each) => approve(consent, app, `ending-${each}`)),
    );
    const ids = grants.map(({ grantId }) => grantId);
    const [recent = '', ...old] = ids;
    const others = await Promise.all([1, 2, 3].map(() => openSmallPools(consent.database.url)));
    await using resources = new AsyncDisposableStack();
    for (const each of others) resources.use(each);
    const endIn = async (days: number) => {
      // One statement: the search of the service itself must not announce the new ends before the place is turned back.
      await consent.owner.query(
        `WITH place AS (
           UPDATE webhook_scan SET place_at = now() + make_interval(hours => 24 * $2::int, mins => -5), place_id = ''
           WHERE days_left = $2
         )
         UPDATE consent_grant SET expires_at = now() + make_interval(hours => 24 * $2::int, secs => -20),
           granted_at = now() - CASE id WHEN $3 THEN interval '1 hour' ELSE interval '80 days' END WHERE id = ANY($1)`,
        [ids, days, recent],
      );
    };
    const search = async () => {
      const searches = others.flatMap(({ webhooks }) => {
        return [1, 2, 3].map(() => addDueEvents(webhooks, new AbortController().signal));
      });
      await Promise.all(searches);
      const rows = await consent.rows(
        `SELECT grant_id || ' in ' || (content->>'daysLeft') AS end FROM webhook_event
         WHERE type = 'connection.ending' AND endpoint_id = 'host:crm' AND grant_id = ANY($1) ORDER BY 1`,
        ids,
      );
      return rows.map(({ end }) => end);
    };
    // An end that was chosen an hour ago is no news to its person.
    const announced = (...days: number[]) =>
      old.flatMap((id) => days.map((day) => `${id} in ${day}`)).toSorted();
    await endIn(7);
    await eventually(async () => expect(await search()).toHaveLength(old.length));
    expect((await search()).toSorted()).toEqual(announced(7));
    await endIn(1);
    await eventually(async () => expect(await search()).toHaveLength(2 * old.length));
    expect((await search()).toSorted()).toEqual(announced(1, 7));
    expect((await arrivedAbout(old[0]!, 3)).slice(1)).toMatchObject([
      { type: 'connection.ending', userId: expect.stringMatching(/^ending-/), daysLeft: 7 },
      { type: 'connection.ending', daysLeft: 1, expiresAt: expect.any(String) },
    ]);
  });
});

test('both endpoints get the same events, each signed with its own secret alone', async () => {
  const { grantId: id } = await approve(consent, app, 'both');
  await consent.as('both').revokeGrant({ id });
  const atCrm = await arrivedAbout(id, 2);
  expect(atCrm.map(({ type }) => type)).toEqual(['connection.began', 'connection.ended']);
  expect(await arrivedAbout(id, 2, helpdesk.receiver)).toEqual(atCrm);
  for (const { headers } of [...receiver.events, ...helpdesk.receiver.events]) {
    expect(headers['webhook-signature']).toMatch(/^v1,\S+$/);
  }
});

test('a start with the same endpoints leaves the one paused that an operator has paused', async () => {
  const stored = () =>
    consent.rows(
      `SELECT updated_at, paused_at FROM webhook_endpoint WHERE id IN ('host:crm', 'host:helpdesk') ORDER BY id`,
    );
  await operators.setWebhookPaused({ clientId: 'host:helpdesk', paused: true });
  const before = await stored();
  expect(before).toMatchObject([{ paused_at: null }, { paused_at: expect.any(Date) }]);
  await using _ = await consent.startAnother();
  await eventually(async () => {
    const now = await stored();
    return before.every(({ updated_at }, each) => updated_at < now[each].updated_at);
  });
  const paused = (await stored()).map(({ paused_at }) => paused_at);
  expect(paused).toEqual(before.map(({ paused_at }) => paused_at));
  const { grantId } = await approve(consent, app, 'after-start');
  await arrivedAbout(grantId, 1);
  await arrivedAbout(grantId, 0, helpdesk.receiver);
  await operators.setWebhookPaused({ clientId: 'host:helpdesk', paused: false });
  await arrivedAbout(grantId, 1, helpdesk.receiver);
});

test('an operator lists, pauses and resumes the endpoint by its name, and delivers its events again', async () => {
  const listed = async () => {
    const { webhooks } = await operators.listWebhooks({});
    return webhooks.find(({ webhook }) => webhook?.clientId === 'host:crm');
  };
  expect(await listed()).toMatchObject({ appName: '', webhook: { url: receiver.url } });
  await operators.setWebhookPaused({ clientId: 'host:crm', paused: true });
  const { grantId } = await approve(consent, app, 'paused');
  expect(await listed()).toMatchObject({ pausedAt: {} });
  await operators.setWebhookPaused({ clientId: 'host:crm', paused: false });
  await arrivedAbout(grantId, 1);
  const since = timestampFromDate(new Date(0));
  const again = await operators.redeliverEvents({ clientId: 'host:crm', since, deliveredToo: true });
  expect(again.events).toBeGreaterThan(0);
  await eventually(() =>
    expect(receiver.accepted.filter(({ data }) => data.grantId === grantId)).toHaveLength(2),
  );
});

test('an endpoint that is not configured any more is removed, and one of an app stays', async () => {
  await consent.rows(
    `INSERT INTO webhook_endpoint (id, client_id, url, events) VALUES ('whe_1', 'app_1', 'https://pulse.test/', '{grant.revoked}')`,
  );
  const billing = { ...crm, name: 'billing' };
  const another = await consent.startAnother({
    settings: { HOST_WEBHOOKS: JSON.stringify([billing]) },
  });
  await eventually(async () =>
    expect(await consent.rows('SELECT id FROM webhook_endpoint ORDER BY id')).toEqual([
      { id: 'host:billing' },
      { id: 'whe_1' },
    ]),
  );
  await another[Symbol.asyncDispose]();
});

const short = await secretFile('short', 'whsec_c2hvcnQ=');
const six = Array.from({ length: 6 }, (_, each) => ({ ...crm, name: `crm-${each}` }));

test.each([
  ['no JSON', 'https://crm.test/', 'must be a JSON list'],
  ['six entries', JSON.stringify(six), 'has 6 entries, at most 5'],
  ['an entry without a name', JSON.stringify([{ ...crm, name: undefined }]), 'entry 1: name must be set'],
  [
    'a name with other characters',
    JSON.stringify([{ ...crm, name: 'CRM' }]),
    'entry 1 (CRM): name must have 1 to 32',
  ],
  [
    'a short secret',
    JSON.stringify([{ ...crm, secretFile: short }]),
    'entry 1 (crm): secretFile must contain whsec_ and the base64 of 24',
  ],
  [
    'a secret in place of its file',
    JSON.stringify([{ ...crm, secret }]),
    'entry 1 (crm): Unrecognized key: "secret"',
  ],
  ['a name twice', JSON.stringify([crm, crm]), 'has two entries with the name crm'],
])('the setting with %s is refused by what is wrong, without the secret', (_, text, message) => {
  const { error } = hostWebhooks().safeParse(text);
  const messages = error?.issues.map((issue) => issue.message).join('\n');
  expect(messages).toContain(message);
  expect(messages).not.toContain(secret);
});
