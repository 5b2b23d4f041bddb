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

async function provokeAtData({ recorder, app, token: bearer }: Story): Promise<void> {
  const typo = 'GET /api/v1/health-data/heart?form=2026-11-01&pageSize=0';
  const headers = { 'API-Version': '2' };
  await recorder.record('UNAUTHORIZED', 'GET /api/v1/profile', { bearer: 'phds_at_wrong' }, 401);
  await recorder.record('INSUFFICIENT_SCOPE', 'GET /api/v1/mood', { bearer }, 403);
  await recorder.record(
    'CONSENT_REQUIRED',
    'GET /api/v1/profile',
    { bearer: await app.userlessToken() },
    403,
  );
  await recorder.record('INVALID_REQUEST', typo, { bearer }, 400);
  await recorder.record('METHOD_NOT_ALLOWED', 'POST /api/v1/health-data/heart', { bearer }, 405);
  await recorder.record('NOT_FOUND', 'GET /api/v1/health-data/heart-rate', { bearer }, 404);
  await recorder.record('UNSUPPORTED_VERSION', 'GET /api/v1/health-data/heart', { bearer, headers }, 400);
}

/** Errors of failures, of limits and of time, which an app can ask for in a sandbox. */
async function provokeInSandbox({ recorder, token: bearer }: Story): Promise<void> {
  const path = '/api/v1/health-data/heart';
  const force = (code: ProblemCode, query: string, status: number) => {
    const headers = { 'Sandbox-Force': code };
    return recorder.record(code, `GET ${path}${query}`, { bearer, headers }, status);
  };
  await force('TOKEN_EXPIRED', '', 401);
  await force('RATE_LIMITED', '', 429);
  await force('ACCESS_NOT_RECORDED', '', 503);
  await force('INTERNAL_ERROR', '', 500);
  await force('CURSOR_EXPIRED', '?updatedSince=2026-11-01T00:00:00Z', 410);
}

async function provokeAtOauth({ recorder, app, person, token }: Story): Promise<void> {
  const client = app;
  const { code } = await app.expectCode(person, [HEART]);
  await app.expectTokens(code);
  const used = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI };
  await recorder.record('INVALID_GRANT', 'POST /oauth/token', { client, form: used }, 400);
  const unknown = { redirect_uri: REDIRECT_URI, scope: `${HEART} write:mood` };
  await recorder.record('INVALID_SCOPE', 'POST /oauth/authorize', { client, form: unknown }, 400);
  const password = { grant_type: 'password', username: 'ada', password: 'secret' };
  await recorder.record('UNSUPPORTED_GRANT_TYPE', 'POST /oauth/token', { client, form: password }, 400);
  const proof = { dpop: 'not-a-proof' };
  const own = { grant_type: 'client_credentials' };
  await recorder.record(
    'INVALID_DPOP_PROOF',
    'POST /oauth/token',
    { client, headers: proof, form: own },
    400,
  );
  await recorder.record('UNAUTHORIZED_CLIENT', 'GET /oauth/grants', { bearer: token }, 403);
}

async function provokeAtDecisions(story: Story): Promise<void> {
  const { stack, recorder, app, person: bearer, developer } = story;
  const ask = async () => {
    const { body } = expectStatus(201, await app.authorize([HEART]));
    const path = `/partner/consent/pending/${body.pending_id}`;
    expectStatus(200, await send(stack.gateway + path, { bearer }));
    return { id: String(body.pending_id), path };
  };
  const open = await ask();
  const approve = `POST ${open.path}/approve`;
  await recorder.record('NO_SCOPES_APPROVED', approve, { bearer, json: { scopes: [] } }, 400);
  await recorder.record(
    'CONFLICT',
    approve,
    { bearer, json: { scopes: [HEART], revision: 'rev_earlier' } },
    409,
  );
  const denied = await ask();
  expectStatus(200, await send(`${stack.gateway}${denied.path}/deny`, { bearer, method: 'POST' }));
  await recorder.record(
    'ALREADY_DECIDED',
    `POST ${denied.path}/approve`,
    { bearer, json: { scopes: [HEART] } },
    409,
  );
  const late = await ask();
  await using database = await openClient(stack.databases.consent.ownerUrl);
  // It would expire after ten minutes.
  await database.query('UPDATE pending_approval SET expires_at = now() WHERE id = $1', [late.id]);
  await recorder.record(
    'PENDING_EXPIRED',
    `POST ${late.path}/approve`,
    { bearer, json: { scopes: [HEART] } },
    409,
  );
  const status = `${stack.gateway}/developer/apps/${app.clientId}/status`;
  expectStatus(200, await send(status, { bearer: developer, json: { status: 'suspended' } }));
  await recorder.record('APP_NOT_ACTIVE', approve, { bearer, json: { scopes: [HEART] } }, 409);
}
