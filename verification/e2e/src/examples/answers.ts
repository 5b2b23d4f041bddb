import type { Recorded } from '@phds/docs/recorded';
import { signIn } from '@phds/running-system/people';
import type { SharedStack } from '@phds/running-system/shared-stack';
import { Recorder } from './recorder.ts';

const REDIRECT_URI = 'https://app.example/callback';
const SCOPES = [
  ...['heart', 'activity', 'sleep'].map((category) => `read:health-data:${category}`),
  ...['aggregations', 'trends', 'symptoms', 'medications', 'conditions', 'allergies', 'appointments'].map(
    (name) => `read:${name}`,
  ),
  ...['weight', 'mood', 'reports', 'profile', 'ehr'].map((name) => `read:${name}`),
];

interface Story {
  readonly recorder: Recorder<string>;
  readonly developer: string;
  readonly person: string;
}

interface Client {
  readonly clientId: string;
  readonly clientSecret: string;
}

interface Connection {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly grantId: string;
}

/** Plays the life of an app and records one exchange for each operation, by operation id. The person is `ada`, with synthetic data. */
export async function recordAnswers(stack: SharedStack): Promise<ReadonlyMap<string, Recorded>> {
  const recorder = new Recorder<string>(stack.gateway);
  const story = {
    recorder,
    developer: await signIn(stack, 'developer'),
    person: await signIn(stack, 'ada'),
  };
  const client = await registerApp(story);
  await refuseRequests(story, client);
  const connection = await connect(story, client);
  await readData(story, connection);
  await manageTokens(story, client, connection);
  await recordAsPerson(story, connection);
  await recordAsDeveloper(story, client);
  await setWebhook(story, client);
  await rehearse(story, client, connection);
  await readDocuments(story);
  await end(story, client, connection);
  return recorder.recorded;
}

async function registerApp({ recorder, developer }: Story): Promise<Client> {
  const json = { name: 'Morning Run', redirectUris: [REDIRECT_URI], scopes: SCOPES, requirePkce: false };
  const { body } = await recorder.record(
    'registerApp',
    'POST /developer/apps',
    { bearer: developer, json },
    201,
  );
  const { clientId, clientSecret } = body.data;
  const bearer = developer;
  await recorder.record('getApp', `GET /developer/apps/${clientId}`, { bearer });
  const change = { description: 'Shows your heart rate beside your runs.' };
  await recorder.record('changeApp', `PATCH /developer/apps/${clientId}`, { bearer, json: change });
  await recorder.record('listApps', 'GET /developer/apps?pageSize=1', { bearer });
  return { clientId, clientSecret };
}

/** Requests that the person does not approve. */
async function refuseRequests({ recorder, person: bearer }: Story, client: Client): Promise<void> {
  const form = { redirect_uri: REDIRECT_URI, scope: 'read:mood', state: 'af0ifjsldkj' };
  const push = async () =>
    (await recorder.record('pushAuthorization', 'POST /oauth/par', { client, form }, 201)).body.pending_id;
  const query = new URLSearchParams({ client_id: client.clientId, ...form });
  await recorder.record('startAuthorization', `GET /oauth/authorize?${query}`, {}, 303);
  const denied = `/partner/consent/pending/${await push()}`;
  await recorder.record('getPendingApproval', `GET ${denied}`, { bearer });
  await recorder.record('extendPendingApproval', `POST ${denied}/extend`, { bearer });
  await recorder.record('listPendingApprovals', 'GET /partner/consent/pending?pageSize=1', { bearer });
  await recorder.record('deny', `POST ${denied}/deny`, { bearer });
  const released = `/partner/consent/pending/${await push()}`;
  await recorder.record('getPendingApproval', `GET ${released}`, { bearer });
  await recorder.record('releasePendingApproval', `POST ${released}/release`, { bearer });
}

async function connect({ recorder, person: bearer }: Story, client: Client): Promise<Connection> {
  const form = { redirect_uri: REDIRECT_URI, scope: SCOPES.join(' '), state: 'af0ifjsldkj' };
  const asked = await recorder.record('requestAuthorization', 'POST /oauth/authorize', { client, form }, 201);
  const path = `/partner/consent/pending/${asked.body.pending_id}/approve`;
  const approved = await recorder.record('approve', `POST ${path}`, { bearer, json: { expiresInDays: 30 } });
  const code = new URL(approved.body.data.redirectUri).searchParams.get('code') ?? '';
  const exchange = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI };
  const { body } = await recorder.record('issueTokens', 'POST /oauth/token', { client, form: exchange });
  return { accessToken: body.access_token, refreshToken: body.refresh_token, grantId: body.grant_id };
}

async function readData({ recorder }: Story, { accessToken: bearer }: Connection): Promise<void> {
  const read = (name: string, path: string) => recorder.record(name, `GET /api/v1${path}`, { bearer });
  await read('getHealthData', '/health-data/heart?pageSize=2');
  await read('getAggregations', '/aggregations?type=heart-rate');
  await read('getTrends', '/trends?type=steps&pageSize=2');
  const { body } = await read('getMedications', '/medications?pageSize=2');
  await read('getAdherence', `/medications/${body.data[0].id}/adherence?pageSize=2`);
  const lists = {
    Symptoms: 'symptoms',
    Conditions: 'conditions',
    Allergies: 'allergies',
    Appointments: 'appointments',
  };
  const others = { Weight: 'weight', Mood: 'mood', Reports: 'reports', Ehr: 'ehr' };
  for (const [name, path] of Object.entries({ ...lists, ...others }))
    await read(`get${name}`, `/${path}?pageSize=2`);
  await read('getProfile', '/profile');
}

async function manageTokens(
  { recorder }: Story,
  client: Client,
  { accessToken, grantId }: Connection,
): Promise<void> {
  await recorder.record('introspectToken', 'POST /oauth/introspect', {
    client,
    form: { token: accessToken },
  });
  const own = new Recorder<'token'>(recorder.gateway);
  const { body } = await own.record('token', 'POST /oauth/token', {
    client,
    form: { grant_type: 'client_credentials' },
  });
  const bearer = body.access_token;
  await recorder.record('listOwnGrants', 'GET /oauth/grants?status=active', { bearer });
  await recorder.record('getOwnGrant', `GET /oauth/grants/${grantId}`, { bearer });
}

async function recordAsPerson({ recorder, person: bearer }: Story, { grantId }: Connection): Promise<void> {
  const grant = `/partner/consent/grants/${grantId}`;
  const record = (name: string, line: string, json?: unknown, status = 200) =>
    recorder.record(name, line, json === undefined ? { bearer } : { bearer, json }, status);
  await record('getSession', 'GET /partner/session');
  await record('listGrants', 'GET /partner/consent/grants?status=active&pageSize=1');
  await record('getGrant', `GET ${grant}`);
  await record('narrowGrant', `PATCH ${grant}`, { scopes: SCOPES.filter((scope) => scope !== 'read:ehr') });
  await record('getReceipt', `GET ${grant}/receipt`);
  await record('listConnectedApps', 'GET /partner/consent/apps?pageSize=1');
  await record('listAccesses', 'GET /partner/consent/accesses?pageSize=2');
  await record('listGrantAccesses', `GET ${grant}/accesses?pageSize=2`);
  await record('summarizeAccesses', 'GET /partner/consent/accesses/summary?pageSize=2');
  await record('exportAccesses', `GET /partner/consent/accesses.csv?grantId=${grantId}`);
  await record('previewData', 'GET /partner/consent/preview?scope=read:weight');
  await record('listOwnData', 'GET /partner/consent/overview');
  await record('requestDeletion', `POST ${grant}/deletion-request`);
}

async function recordAsDeveloper(
  { recorder, developer: bearer }: Story,
  { clientId }: Client,
): Promise<void> {
  const app = `/developer/apps/${clientId}`;
  await recorder.record('listAppUsage', `GET ${app}/usage?pageSize=2`, { bearer });
  await recorder.record('listRequests', `GET ${app}/requests?pageSize=2`, { bearer });
}

async function setWebhook({ recorder, developer: bearer }: Story, { clientId }: Client): Promise<void> {
  const path = `/developer/apps/${clientId}/webhook`;
  const json = { url: 'https://app.example/events', events: ['grant.revoked', 'data.updated'] };
  await recorder.record('putWebhook', `PUT ${path}`, { bearer, json }, 201);
  await recorder.record('getWebhook', `GET ${path}`, { bearer });
  const rotation = { overlapSeconds: 86_400 };
  await recorder.record('rotateWebhookSecret', `POST ${path}/rotate-secret`, { bearer, json: rotation });
  const sent = await recorder.record('sendTestEvent', `POST ${path}/test`, { bearer }, 202);
  await recorder.record('listDeliveries', `GET ${path}/deliveries?pageSize=1`, { bearer });
  await recorder.record(
    'redeliverEvent',
    `POST ${path}/deliveries/${sent.body.data.id}/redeliver`,
    { bearer },
    202,
  );
  await recorder.record('deleteWebhook', `DELETE ${path}`, { bearer }, 204);
}

/** A trigger, which only a sandbox has. */
async function rehearse(
  { recorder, developer: bearer }: Story,
  { clientId }: Client,
  { grantId }: Connection,
): Promise<void> {
  const json = { trigger: 'data.arrive', grantId };
  const path = `/developer/apps/${clientId}/sandbox/triggers`;
  await recorder.record('pullSandboxTrigger', `POST ${path}`, { bearer, json });
}

async function readDocuments({ recorder }: Story): Promise<void> {
  await recorder.record('listScopes', 'GET /oauth/scopes?pageSize=2');
  await recorder.record('listVersions', 'GET /api/versions');
  await recorder.record('getServerMetadata', 'GET /.well-known/oauth-authorization-server');
  await recorder.record('getReceiptKeys', 'GET /.well-known/jwks.json');
  await recorder.record('getLiveness', 'GET /livez');
  await recorder.record('getReadiness', 'GET /readyz');
}

async function end(story: Story, client: Client, connection: Connection): Promise<void> {
  const { recorder, developer, person: bearer } = story;
  const app = `/developer/apps/${client.clientId}`;
  await recorder.record('revokeToken', 'POST /oauth/revoke', {
    client,
    form: { token: connection.refreshToken },
  });
  await recorder.record('revokeGrant', `DELETE /partner/consent/grants/${connection.grantId}`, { bearer });
  const own = new Recorder<'token'>(recorder.gateway);
  const { body } = await own.record('token', 'POST /oauth/token', {
    client,
    form: { grant_type: 'client_credentials' },
  });
  await recorder.record('endOwnGrant', `DELETE /oauth/grants/${connection.grantId}`, {
    bearer: body.access_token,
  });
  await recorder.record('rotateSecret', `POST ${app}/rotate-secret`, { bearer: developer });
  await recorder.record('setAppStatus', `POST ${app}/status`, {
    bearer: developer,
    json: { status: 'suspended' },
  });
}
