import type { Recorded } from '@phds/docs/recorded';
import { PartnerApp } from '@phds/running-system/partner-app';
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

/** Records requests of somebody. */
type Act = ReturnType<Recorder<string>['as']>;

/** Plays the life of an app and records one exchange for each operation, by operation id. The person is `ada`, with synthetic data. */
export async function recordAnswers(stack: SharedStack): Promise<ReadonlyMap<string, Recorded>> {
  const recorder = new Recorder<string>(stack.gateway);
  const developer = recorder.as({ bearer: await signIn(stack, 'developer') });
  const person = recorder.as({ bearer: await signIn(stack, 'ada') });
  const credentials = await registerApp(developer);
  const client = recorder.as({ client: credentials });
  const app = `/developer/apps/${credentials.clientId}`;

  const form = { redirect_uri: REDIRECT_URI, scope: 'read:mood', state: 'af0ifjsldkj' };
  const query = new URLSearchParams({ client_id: credentials.clientId, ...form });
  await recorder.record('startAuthorization', `GET /oauth/authorize?${query}`, {}, 303);
  await refuseRequests(client, person, form);
  const { access_token, refresh_token, grant_id } = await connect(client, person);
  await readData(recorder.as({ bearer: access_token }));
  await client('introspectToken', 'POST /oauth/introspect', { form: { token: access_token } });
  const own = recorder.as({ bearer: await new PartnerApp(stack.gateway, credentials).userlessToken() });
  await own('listOwnGrants', 'GET /oauth/grants?status=active');
  await own('getOwnGrant', `GET /oauth/grants/${grant_id}`);
  await recordAsPerson(person, grant_id);
  await developer('listAppUsage', `GET ${app}/usage?pageSize=2`);
  await developer('listRequests', `GET ${app}/requests?pageSize=2`);
  await setWebhook(developer, `${app}/webhook`);
  // Only a sandbox has triggers.
  const trigger = { trigger: 'data.arrive', grantId: grant_id };
  await developer('pullSandboxTrigger', `POST ${app}/sandbox/triggers`, { json: trigger });
  await readDocuments(recorder.as({}));

  await client('revokeToken', 'POST /oauth/revoke', { form: { token: refresh_token } });
  await person('revokeGrant', `DELETE /partner/consent/grants/${grant_id}`);
  await own('endOwnGrant', `DELETE /oauth/grants/${grant_id}`);
  await developer('rotateSecret', `POST ${app}/rotate-secret`);
  await developer('setAppStatus', `POST ${app}/status`, { json: { status: 'suspended' } });
  return recorder.recorded;
}

async function registerApp(developer: Act) {
  const json = { name: 'Morning Run', redirectUris: [REDIRECT_URI], scopes: SCOPES, requirePkce: false };
  const { body } = await developer('registerApp', 'POST /developer/apps', { json }, 201);
  const { clientId, clientSecret } = body.data;
  await developer('getApp', `GET /developer/apps/${clientId}`);
  const change = { description: 'Shows your heart rate beside your runs.' };
  await developer('changeApp', `PATCH /developer/apps/${clientId}`, { json: change });
  await developer('listApps', 'GET /developer/apps?pageSize=1');
  return { clientId, clientSecret };
}

/** Requests that the person does not approve. */
async function refuseRequests(client: Act, person: Act, form: Readonly<Record<string, string>>) {
  const push = async () => {
    const { body } = await client('pushAuthorization', 'POST /oauth/par', { form }, 201);
    return `/partner/consent/pending/${body.pending_id}`;
  };
  const denied = await push();
  // A request belongs to the person who opens it.
  await person('getPendingApproval', `GET ${denied}`);
  await person('extendPendingApproval', `POST ${denied}/extend`);
  await person('listPendingApprovals', 'GET /partner/consent/pending?pageSize=1');
  await person('deny', `POST ${denied}/deny`);
  const released = await push();
  await person('getPendingApproval', `GET ${released}`);
  await person('releasePendingApproval', `POST ${released}/release`);
}

async function connect(client: Act, person: Act) {
  const form = { redirect_uri: REDIRECT_URI, scope: SCOPES.join(' '), state: 'af0ifjsldkj' };
  const asked = await client('requestAuthorization', 'POST /oauth/authorize', { form }, 201);
  const path = `/partner/consent/pending/${asked.body.pending_id}/approve`;
  const approved = await person('approve', `POST ${path}`, { json: { expiresInDays: 30 } });
  const code = new URL(approved.body.data.redirectUri).searchParams.get('code') ?? '';
  const exchange = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI };
  return (await client('issueTokens', 'POST /oauth/token', { form: exchange })).body;
}

async function readData(record: Act): Promise<void> {
  const read = (name: string, path: string) => record(`get${name}`, `GET /api/v1/${path}`);
  await read('HealthData', 'health-data/heart?pageSize=2');
  await read('Aggregations', 'aggregations?type=heart-rate');
  await read('Trends', 'trends?type=steps&pageSize=2');
  const { body } = await read('Medications', 'medications?pageSize=2');
  await read('Adherence', `medications/${body.data[0].id}/adherence?pageSize=2`);
  const lists = ['Symptoms', 'Conditions', 'Allergies', 'Appointments', 'Weight', 'Mood', 'Reports', 'Ehr'];
  for (const name of lists) await read(name, `${name.toLowerCase()}?pageSize=2`);
  await read('Profile', 'profile');
}

async function recordAsPerson(record: Act, grantId: string): Promise<void> {
  const consent = '/partner/consent';
  const grant = `${consent}/grants/${grantId}`;
  const scopes = SCOPES.filter((scope) => scope !== 'read:ehr');
  await record('getSession', 'GET /partner/session');
  await record('listGrants', `GET ${consent}/grants?status=active&pageSize=1`);
  await record('getGrant', `GET ${grant}`);
  await record('narrowGrant', `PATCH ${grant}`, { json: { scopes } });
  await record('getReceipt', `GET ${grant}/receipt`);
  await record('listConnectedApps', `GET ${consent}/apps?pageSize=1`);
  await record('listAccesses', `GET ${consent}/accesses?pageSize=2`);
  await record('listGrantAccesses', `GET ${grant}/accesses?pageSize=2`);
  await record('summarizeAccesses', `GET ${consent}/accesses/summary?pageSize=2`);
  await record('exportAccesses', `GET ${consent}/accesses.csv?grantId=${grantId}`);
  await record('previewData', `GET ${consent}/preview?scope=read:weight`);
  await record('listOwnData', `GET ${consent}/overview`);
  await record('requestDeletion', `POST ${grant}/deletion-request`);
}

async function setWebhook(record: Act, path: string): Promise<void> {
  const json = { url: 'https://app.example/events', events: ['grant.revoked', 'data.updated'] };
  await record('putWebhook', `PUT ${path}`, { json }, 201);
  await record('getWebhook', `GET ${path}`);
  await record('rotateWebhookSecret', `POST ${path}/rotate-secret`, { json: { overlapSeconds: 86_400 } });
  const sent = await record('sendTestEvent', `POST ${path}/test`, {}, 202);
  await record('listDeliveries', `GET ${path}/deliveries?pageSize=1`);
  await record('redeliverEvent', `POST ${path}/deliveries/${sent.body.data.id}/redeliver`, {}, 202);
  await record('deleteWebhook', `DELETE ${path}`, {}, 204);
}

async function readDocuments(record: Act): Promise<void> {
  await record('listScopes', 'GET /oauth/scopes?pageSize=2');
  await record('listVersions', 'GET /api/versions');
  await record('getServerMetadata', 'GET /.well-known/oauth-authorization-server');
  await record('getReceiptKeys', 'GET /.well-known/jwks.json');
  await record('getLiveness', 'GET /livez');
  await record('getReadiness', 'GET /readyz');
}
