import { DATA_PATHS } from '@phds/catalog/endpoints';
import { SCOPE_NAMES, type Scope } from '@phds/catalog/scopes';
import { type Client, type Connection, createClient, type KeptAuthorization, systemClock } from '@phds/sdk';
import type { Answer, Conversation } from './conversation.ts';

/** Where the demo happens. */
export interface DemoPlace {
  readonly gateway: string;
  readonly identityProvider: string;
}

const REDIRECT_URI = 'http://localhost:9999/callback';
const HOUR_MS = 3_600_000;

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

/** The app: its client of the SDK, and its clock, which the demo moves. */
interface App {
  readonly client: Client;
  aheadMs: number;
}

/** The calls of the demo: an app registers, is allowed a part of what it asks for, reads, refreshes, and is cut off. */
export async function makeDemoCalls(talk: Conversation, place: DemoPlace): Promise<void> {
  const developer = await signIn(talk, place, 'developer', 'A developer signs in at the identity provider');
  const app = await registerApp(talk, place, developer);
  const { url, kept } = await askForEverything(talk, app);
  const ada = await signIn(talk, place, 'ada', 'Ada signs in');
  const callbackUrl = await approvePart(talk, place, ada, url);
  const connection = await exchange(talk, app, callbackUrl, kept);
  await readEverything(talk, connection);
  const first = await connection.accessTokens();
  await refresh(talk, app, connection);
  await revoke(talk, place, ada, connection.id);
  await showRefusal(talk, place, connection, first.accessToken);
}

async function signIn(talk: Conversation, place: DemoPlace, user: string, title: string): Promise<string> {
  talk.step(title);
  const url = `${place.identityProvider}/sessions`;
  return text(await talk.send({ method: 'POST', url, body: { user }, expect: { status: 200 } }), 'token');
}

async function registerApp(talk: Conversation, place: DemoPlace, session: string): Promise<App> {
  talk.step('The developer registers an app; its secret is shown only now');
  const { data } = await talk.send({
    method: 'POST',
    url: `${place.gateway}/developer/apps`,
    bearer: session,
    body: { name: 'Demo', description: 'Shows the life of an app', redirectUris: [REDIRECT_URI] },
    expect: { status: 201 },
  });
  const app: App = {
    aheadMs: 0,
    client: createClient({
      baseUrl: place.gateway,
      clientId: text(data, 'clientId'),
      clientSecret: text(data, 'clientSecret'),
      redirectUri: REDIRECT_URI,
      fetch: talk.fetch,
      clock: { ...systemClock, now: () => Date.now() + app.aheadMs },
    }),
  };
  return app;
}

function askForEverything(talk: Conversation, { client }: App) {
  talk.step(`The app requests all ${SCOPE_NAMES.length} scopes`);
  return client.authorize({ scopes: SCOPE_NAMES, purpose: 'Shows the life of an app.' });
}

/** Returns the URL that Ada's browser is sent to. */
async function approvePart(talk: Conversation, place: DemoPlace, session: string, screen: string) {
  talk.step('Ada opens the approval screen, and approves seven scopes for 30 days');
  const url = `${place.gateway}${new URL(screen).pathname.replace('/approve/', '/partner/consent/pending/')}`;
  await talk.send({ method: 'GET', url, bearer: session, expect: { status: 200 } });
  const { data } = await talk.send({
    method: 'POST',
    url: `${url}/approve`,
    bearer: session,
    body: { scopes: APPROVED, expiresInDays: 30 },
    expect: { status: 200 },
  });
  return text(data, 'redirectUri');
}

function exchange(talk: Conversation, { client }: App, callbackUrl: string, kept: KeptAuthorization) {
  talk.step('Her browser brings the code to the app, which exchanges it for tokens');
  return client.exchange(callbackUrl, kept);
}

async function readEverything(talk: Conversation, connection: Connection): Promise<void> {
  talk.step(`The app reads all ${DATA_PATHS.length} data endpoints: data where Ada said yes, 403 elsewhere`);
  let medicationId = 'med_unknown';
  talk.brief = true;
  for (const { path, endpoint, scope } of DATA_PATHS) {
    const isAllowed = APPROVED.includes(scope);
    const read = () => connection.get(path.replace('{id}', medicationId));
    const answer = await talk.call(path, isAllowed ? null : 'INSUFFICIENT_SCOPE', read);
    if (endpoint === 'medications' && isAllowed) medicationId = text(first((answer as Answer)['data']), 'id');
  }
  talk.brief = false;
}

async function refresh(talk: Conversation, app: App, connection: Connection): Promise<void> {
  talk.step(
    "The app's clock moves on by an hour: the access token is renewed, and the app reads with the new one",
  );
  app.aheadMs = HOUR_MS;
  const query = { pageSize: 3, type: 'Resting HR' } as const;
  await talk.call('the read after an hour', null, () => connection.healthData('heart', query).page());
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
  connection: Connection,
  oldToken: string,
): Promise<void> {
  talk.step('After the revocation the app gets nothing: not with either token, and not by refreshing');
  await talk.send({
    method: 'GET',
    url: `${place.gateway}/api/v1/health-data/heart`,
    bearer: oldToken,
    expect: { status: 401, code: 'UNAUTHORIZED' },
  });
  await talk.call('the read after the revocation', 'INVALID_GRANT', () =>
    connection.healthData('heart').page(),
  );
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
