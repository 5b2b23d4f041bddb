import { DATA_PATHS } from '@phds/catalog/endpoints';
import { SCOPE_NAMES, type Scope } from '@phds/catalog/scopes';
import type { Answer, Conversation } from './conversation.ts';

/** Where the demo happens. */
export interface DemoPlace {
  readonly gateway: string;
  readonly identityProvider: string;
}

interface Client {
  readonly client_id: string;
  readonly client_secret: string;
}

const REDIRECT_URI = 'http://localhost:9999/callback';

/** The scopes that ada approves. */
const APPROVED: readonly Scope[] = [
  'read:health-data:heart',
  'read:health-data:activity',
  'read:health-data:sleep',
  'read:aggregations',
  'read:medications',
  'read:weight',
  'read:profile',
];

/** The calls of the demo: an app registers, is allowed a part of what it asks for, reads, refreshes, and is cut off. */
export async function makeDemoCalls(talk: Conversation, place: DemoPlace): Promise<void> {
  const developer = await signIn(talk, place, 'developer', 'A developer signs in at the identity provider');
  const client = await registerApp(talk, place, developer);
  const pendingId = await askForEverything(talk, place, client);
  const ada = await signIn(talk, place, 'ada', 'Ada signs in');
  const { grantId, code } = await approvePart(talk, place, ada, pendingId);
  const tokens = await exchange(talk, place, client, code);
  await readEverything(talk, place, tokens.access);
  const renewed = await refresh(talk, place, client, tokens.refresh);
  await revoke(talk, place, ada, grantId);
  await showRefusal(talk, place, client, [tokens.access, renewed.access], renewed.refresh);
}

async function signIn(talk: Conversation, place: DemoPlace, user: string, title: string): Promise<string> {
  talk.step(title);
  const url = `${place.identityProvider}/sessions`;
  return text(await talk.send({ method: 'POST', url, body: { user }, expect: { status: 200 } }), 'token');
}

async function registerApp(talk: Conversation, place: DemoPlace, session: string): Promise<Client> {
  talk.step('The developer registers an app; its secret is shown only now');
  const { data } = await talk.send({
    method: 'POST',
    url: `${place.gateway}/developer/apps`,
    bearer: session,
    body: { name: 'Demo', description: 'Shows the life of an app', redirectUris: [REDIRECT_URI] },
    expect: { status: 201 },
  });
  return { client_id: text(data, 'clientId'), client_secret: text(data, 'clientSecret') };
}

async function askForEverything(talk: Conversation, place: DemoPlace, client: Client): Promise<string> {
  talk.step(`The app requests all ${SCOPE_NAMES.length} scopes`);
  const answer = await talk.send({
    method: 'POST',
    url: `${place.gateway}/oauth/authorize`,
    body: { ...client, redirect_uri: REDIRECT_URI, scope: SCOPE_NAMES.join(' '), state: 'demo-state' },
    expect: { status: 201 },
  });
  return text(answer, 'pending_id');
}

async function approvePart(talk: Conversation, place: DemoPlace, session: string, pendingId: string) {
  talk.step('Ada opens the approval screen, and approves seven scopes for 30 days');
  const url = `${place.gateway}/partner/consent/pending/${pendingId}`;
  await talk.send({ method: 'GET', url, bearer: session, expect: { status: 200 } });
  const { data } = await talk.send({
    method: 'POST',
    url: `${url}/approve`,
    bearer: session,
    body: { scopes: APPROVED, expiresInDays: 30 },
    expect: { status: 200 },
  });
  const redirect = new URL(text(data, 'redirectUri'));
  return { grantId: text(data, 'grantId'), code: redirect.searchParams.get('code') ?? '' };
}

async function exchange(talk: Conversation, place: DemoPlace, client: Client, code: string) {
  talk.step('Her browser brings the code to the app, which exchanges it for tokens');
  const answer = await talk.send({
    method: 'POST',
    url: `${place.gateway}/oauth/token`,
    body: { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI, ...client },
    expect: { status: 200 },
  });
  return { access: text(answer, 'access_token'), refresh: text(answer, 'refresh_token') };
}

async function readEverything(talk: Conversation, place: DemoPlace, token: string): Promise<void> {
  talk.step(`The app reads all ${DATA_PATHS.length} data endpoints: data where Ada said yes, 403 elsewhere`);
  let medicationId = 'med_unknown';
  for (const { path, endpoint, scope } of DATA_PATHS) {
    const isAllowed = APPROVED.includes(scope);
    const answer = await talk.send({
      method: 'GET',
      url: place.gateway + path.replace('{id}', medicationId),
      bearer: token,
      expect: isAllowed ? { status: 200 } : { status: 403, code: 'INSUFFICIENT_SCOPE' },
      brief: true,
    });
    if (endpoint === 'medications' && isAllowed) medicationId = text(first(answer['data']), 'id');
  }
}

async function refresh(talk: Conversation, place: DemoPlace, client: Client, refreshToken: string) {
  talk.step('The app refreshes, and reads with its new token');
  const answer = await talk.send({
    method: 'POST',
    url: `${place.gateway}/oauth/token`,
    body: { grant_type: 'refresh_token', refresh_token: refreshToken, ...client },
    expect: { status: 200 },
  });
  const access = text(answer, 'access_token');
  const url = `${place.gateway}/api/v1/health-data/heart?pageSize=3&type=resting-hr`;
  await talk.send({ method: 'GET', url, bearer: access, expect: { status: 200 } });
  return { access, refresh: text(answer, 'refresh_token') };
}

async function revoke(talk: Conversation, place: DemoPlace, session: string, grantId: string): Promise<void> {
  talk.step('Ada sees who reads her data, and revokes the grant');
  const url = `${place.gateway}/partner/consent/grants/${grantId}`;
  await talk.send({ method: 'GET', url, bearer: session, expect: { status: 200 } });
  await talk.send({ method: 'DELETE', url, bearer: session, expect: { status: 200 } });
}

async function showRefusal(
  talk: Conversation,
  place: DemoPlace,
  client: Client,
  accessTokens: readonly string[],
  refreshToken: string,
): Promise<void> {
  talk.step('After the revocation the app gets nothing: not with either token, and not by refreshing');
  const url = `${place.gateway}/api/v1/health-data/heart`;
  const refused = { status: 401, code: 'UNAUTHORIZED' };
  for (const bearer of accessTokens) await talk.send({ method: 'GET', url, bearer, expect: refused });
  await talk.send({
    method: 'POST',
    url: `${place.gateway}/oauth/token`,
    body: { grant_type: 'refresh_token', refresh_token: refreshToken, ...client },
    expect: { status: 400, code: 'INVALID_GRANT' },
  });
}

function first(list: unknown): unknown {
  return Array.isArray(list) ? list[0] : undefined;
}

/** A text field of a response. Throws when it is missing, because the demo cannot continue then. */
function text(answer: Answer | unknown, name: string): string {
  const value = (answer as Answer | undefined)?.[name];
  if (typeof value === 'string') return value;
  throw new Error(`The demo cannot continue: the response has no ${name}.`);
}
