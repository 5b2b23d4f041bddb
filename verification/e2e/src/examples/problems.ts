import type { ProblemCode } from '@phds/catalog/problems';
import type { Recorded } from '@phds/docs/recorded';
import { expectStatus, type PartnerApp, REDIRECT_URI, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import type { SharedStack } from '@phds/running-system/shared-stack';
import { openClient } from '@phds/test-kit/open-client';
import { Recorder } from './recorder.ts';

const HEART = 'read:health-data:heart';

interface Story {
  readonly stack: SharedStack;
  readonly recorder: Recorder<ProblemCode>;
  readonly app: PartnerApp;
  readonly developer: string;
  readonly person: string;
  /** A token of the person for heart readings. */
  readonly token: string;
}

/** Provokes errors at a running service and records one exchange for each code. */
export async function recordProblems(stack: SharedStack): Promise<ReadonlyMap<ProblemCode, Recorded>> {
  const developer = await signIn(stack, 'developer');
  const person = await signIn(stack, 'examples-ben');
  const app = await registerApp(stack.gateway, developer, { name: 'Morning Run' });
  const { accessToken: token } = await app.connect(person, [HEART]);
  const recorder = new Recorder<ProblemCode>(stack.gateway);
  const story = { stack, recorder, app, developer, person, token };
  await provokeAtData(story);
  await provokeAtOauth(story);
  await provokeInSandbox(story);
  await provokeAtDecisions(story);
  return recorder.recorded;
}

async function provokeAtData({ recorder, app, token }: Story): Promise<void> {
  const heart = '/api/v1/health-data/heart';
  const record = recorder.as({ bearer: token });
  await record('UNAUTHORIZED', 'GET /api/v1/profile', { bearer: 'phds_at_wrong' }, 401);
  await record('INSUFFICIENT_SCOPE', 'GET /api/v1/mood', {}, 403);
  await record('CONSENT_REQUIRED', 'GET /api/v1/profile', { bearer: await app.userlessToken() }, 403);
  await record('INVALID_REQUEST', `GET ${heart}?form=2026-11-01&pageSize=0`, {}, 400);
  await record('METHOD_NOT_ALLOWED', `POST ${heart}`, {}, 405);
  await record('NOT_FOUND', 'GET /api/v1/health-data/heart-rate', {}, 404);
  await record('UNSUPPORTED_VERSION', `GET ${heart}`, { headers: { 'API-Version': '2' } }, 400);
}

/** Errors of failures, of limits and of time, which an app can ask for in a sandbox. */
async function provokeInSandbox({ recorder, token: bearer }: Story): Promise<void> {
  const force = (code: ProblemCode, query: string, status: number) => {
    const headers = { 'Sandbox-Force': code };
    return recorder.record(code, `GET /api/v1/health-data/heart${query}`, { bearer, headers }, status);
  };
  await force('TOKEN_EXPIRED', '', 401);
  await force('RATE_LIMITED', '', 429);
  await force('ACCESS_NOT_RECORDED', '', 503);
  await force('INTERNAL_ERROR', '', 500);
  await force('CURSOR_EXPIRED', '?updatedSince=2026-11-01T00:00:00Z', 410);
}

async function provokeAtOauth({ recorder, app, person, token }: Story): Promise<void> {
  const record = recorder.as({ client: app });
  const { code } = await app.expectCode(person, [HEART]);
  await app.expectTokens(code);
  const used = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI };
  await record('INVALID_GRANT', 'POST /oauth/token', { form: used }, 400);
  const unknown = { redirect_uri: REDIRECT_URI, scope: `${HEART} write:mood` };
  await record('INVALID_SCOPE', 'POST /oauth/authorize', { form: unknown }, 400);
  const password = { grant_type: 'password', username: 'ada', password: 'secret' };
  await record('UNSUPPORTED_GRANT_TYPE', 'POST /oauth/token', { form: password }, 400);
  const own = { headers: { dpop: 'not-a-proof' }, form: { grant_type: 'client_credentials' } };
  await record('INVALID_DPOP_PROOF', 'POST /oauth/token', own, 400);
  await recorder.record('UNAUTHORIZED_CLIENT', 'GET /oauth/grants', { bearer: token }, 403);
}

async function provokeAtDecisions({ stack, recorder, app, person, developer }: Story): Promise<void> {
  const ask = async () => {
    const { body } = expectStatus(201, await app.authorize([HEART]));
    const path = `/partner/consent/pending/${body.pending_id}`;
    expectStatus(200, await send(stack.gateway + path, { bearer: person }));
    return { id: String(body.pending_id), path };
  };
  const approve = (code: ProblemCode, { path }: { path: string }, more = {}, status = 409) => {
    const json = { scopes: [HEART], ...more };
    return recorder.record(code, `POST ${path}/approve`, { bearer: person, json }, status);
  };
  const open = await ask();
  await approve('NO_SCOPES_APPROVED', open, { scopes: [] }, 400);
  await approve('CONFLICT', open, { revision: 'rev_earlier' });
  const denied = await ask();
  expectStatus(200, await send(`${stack.gateway}${denied.path}/deny`, { bearer: person, method: 'POST' }));
  await approve('ALREADY_DECIDED', denied);
  const late = await ask();
  await using database = await openClient(stack.databases.consent.ownerUrl);
  // It would expire after ten minutes.
  await database.query('UPDATE pending_approval SET expires_at = now() WHERE id = $1', [late.id]);
  await approve('PENDING_EXPIRED', late);
  const status = `${stack.gateway}/developer/apps/${app.clientId}/status`;
  expectStatus(200, await send(status, { bearer: developer, json: { status: 'suspended' } }));
  await approve('APP_NOT_ACTIVE', open);
}
