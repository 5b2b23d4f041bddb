import { beforeAll, describe, expect, test } from '@jest/globals';
import { expectStatus, type PartnerApp, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { type Answer, type RequestOptions, send } from '@phds/running-system/request';
import { type SharedStack, useSharedStack } from '@phds/running-system/shared-stack';
import { runAsOperator } from '../src/operator-command.ts';

const HEART = 'read:health-data:heart';
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

let stack: SharedStack;
let developer: string;

beforeAll(async () => {
  stack = await useSharedStack();
  developer = await signIn(stack, 'developer');
});

const partner = (bearer: string, path: string, options: RequestOptions = {}) =>
  send(`${stack.gateway}/partner${path}`, { bearer, ...options });
const post = (bearer: string, path: string, json: unknown = {}) => partner(bearer, path, { json });
const codeOf = ({ status, body }: Answer): [number, string] => [status, body.code];
const register = (name: string): Promise<PartnerApp> => registerApp(stack.gateway, developer, { name });

test('the session names the person', async () => {
  const { data } = expectStatus(200, await partner(await signIn(stack, 'ada'), '/session')).body;
  expect(data).toMatchObject({ userId: 'ada', name: 'Ada Sommer' });
});

describe('a person who no longer trusts an app', () => {
  test('finds it among the apps, asks it to delete what it has read, and the app sees that', async () => {
    const user = await signIn(stack, 'peoples-requests-1');
    const [first, app] = [await register('Pulse'), await register('Pulse')];
    await first.connect(user, [HEART]);
    const { grantId } = await app.connect(user, [HEART]);
    const listed = expectStatus(200, await partner(user, '/consent/apps')).body;
    expect(listed).toEqual({
      data: [app, first].map(({ clientId }) => ({ clientId, name: 'Pulse', redirectHost: 'localhost:9999' })),
      pagination: { page: 1, pageSize: 20, total: 2, totalPages: 1 },
    });

    const path = `/consent/grants/${grantId}`;
    expectStatus(200, await partner(user, path, { method: 'DELETE' }));
    const answer = expectStatus(200, await post(user, `${path}/deletion-request`)).body;
    expect(answer).toEqual({
      data: { id: grantId, deletionRequestedAt: expect.stringMatching(INSTANT) },
    });
    expect((await post(user, `${path}/deletion-request`)).body).toEqual(answer);
    const { deletionRequestedAt } = answer.data;
    expect((await partner(user, path)).body.data).toMatchObject({ status: 'revoked', deletionRequestedAt });
    const own = await send(`${stack.gateway}/oauth/grants`, { bearer: await app.userlessToken() });
    expect(own.body.data).toMatchObject([{ id: grantId, deletion_requested_at: deletionRequestedAt }]);
  });

  test('reports it, and the operator reads the report', async () => {
    const user = await signIn(stack, 'peoples-requests-2');
    const app = await register('Fake Pulse');
    const { pending_id: pendingId } = expectStatus(201, await app.authorize([HEART])).body;
    expectStatus(200, await partner(user, `/consent/pending/${pendingId}`));
    const pending = `/consent/pending/${pendingId}/report`;
    const { grantId } = await app.connect(user, [HEART]);
    const first = expectStatus(201, await post(user, pending, { reason: 'impersonation' })).body.data;
    const complaint = { reason: 'data_use', text: 'It sells\nmy pulse.' };
    const second = expectStatus(201, await post(user, `/consent/grants/${grantId}/report`, complaint)).body
      .data;
    expect(first).toEqual({ id: expect.stringMatching(/^rpt_/), at: expect.stringMatching(INSTANT) });

    const { code, document } = await runAsOperator(stack, ['reports', 'list', '--app', app.clientId]);
    const about = {
      app: {
        clientId: app.clientId,
        name: 'Fake Pulse',
        currentName: 'Fake Pulse',
        redirectHost: 'localhost:9999',
      },
      user: 'peoples-requests-2',
    };
    expect([code, document]).toEqual([
      0,
      {
        reports: [
          { ...second, ...about, ...complaint, grantId, pendingId: null },
          { ...first, ...about, reason: 'impersonation', text: null, grantId: null, pendingId },
        ],
        page: 1,
        pages: 1,
        total: 2,
      },
    ]);
  });

  test('gets the same 404 for what belongs to somebody else and for what does not exist', async () => {
    const [user, stranger] = [await signIn(stack, 'peoples-requests-3'), await signIn(stack, 'stranger')];
    const app = await register('Pulse');
    const { grantId, pendingId } = await app.expectCode(user, [HEART]);
    for (const [list, foreign] of [
      ['grants', grantId],
      ['pending', pendingId],
    ] as const) {
      for (const id of [foreign, `${foreign.slice(0, 4)}0000000000000000000000`, 'x']) {
        const report = await post(stranger, `/consent/${list}/${id}/report`, { reason: 'other' });
        expect(codeOf(report)).toEqual([404, 'NOT_FOUND']);
      }
    }
    for (const id of [grantId, 'grt_0000000000000000000000', 'x']) {
      expect(codeOf(await post(stranger, `/consent/grants/${id}/deletion-request`))).toEqual([
        404,
        'NOT_FOUND',
      ]);
    }
    const wrong = await post(user, `/consent/grants/${grantId}/report`, { reason: 'bad', text: 7 });
    expect([
      wrong.status,
      wrong.body.errors.map(({ parameter }: { parameter: string }) => parameter),
    ]).toEqual([400, ['reason', 'text']]);
    const long = { reason: 'other', text: 'x'.repeat(1_001) };
    const tooLong = await post(user, `/consent/grants/${grantId}/report`, long);
    expect([tooLong.status, tooLong.body.errors[0].parameter]).toEqual([400, 'text']);
  });
});
