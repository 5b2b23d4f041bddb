import { join } from 'node:path';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { credentials, loadPackageDefinition, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { load } from '@grpc/proto-loader';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AppService } from '@phds/contracts/phds/authorization/v1/apps_pb';
import { AuthorizationService } from '@phds/contracts/phds/authorization/v1/authorization_pb';
import { AppOperatorService } from '@phds/contracts/phds/authorization/v1/operator_pb';
import { type IssueTokenResponse, TokenService } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { readStatement } from '@phds/service-kit/postgres/statement';
import { type CallStreams, openCallStreams } from '@phds/service-kit/rpc/call-streams';
import { eventually } from '@phds/test-kit/conditions';
import { explainGeneric, listIndexes, listNamedIndexes, readSqlFiles } from '@phds/test-kit/sql-files';
import { HEART, REDIRECT_URI, reasonOf, refusalOf, shareHarness, type TestApp } from './harness.ts';

const harness = await shareHarness();

const PROTO = join(import.meta.dirname, '../../../proto');
const SERVICES = [AppOperatorService, AppService, AuthorizationService, TokenService];

type Answer = Record<string, unknown>;
type Call = (
  request: object,
  metadata: Metadata,
  callback: (error: ServiceError | null, answer: Answer) => void,
) => void;

let clients: Map<string, Record<string, Call> & { close(): void }>;

beforeAll(async () => {
  const files = ['apps', 'authorization', 'operator', 'tokens'].map(
    (name) => `phds/authorization/v1/${name}.proto`,
  );
  const definition = await load(files, {
    includeDirs: [PROTO],
    defaults: true,
    enums: String,
    keepCase: true,
  });
  const root = loadPackageDefinition(definition) as unknown as {
    phds: { authorization: { v1: Record<string, new (address: string, c: unknown) => never> } };
  };
  clients = new Map(
    SERVICES.map(({ name }) => {
      const Client = root.phds.authorization.v1[name]!;
      return [name, new Client(harness.address, credentials.createInsecure())];
    }),
  );
});
afterAll(async () => {
  for (const client of clients.values()) client.close();
});

async function call(service: string, rpc: string, request: object, caller: string | null, session?: string) {
  const metadata = new Metadata();
  if (caller !== null) metadata.set('authorization', `Bearer ${await harness.callAs(caller)}`);
  if (session !== undefined) metadata.set('phds-session', session);
  const client = clients.get(service)!;
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  client[rpc]!(request, metadata, (error, answer) => (error === null ? resolve(answer) : reject(error)));
  return promise;
}

describe('a client without our code', () => {
  test('registers an app, opens a request and authenticates it, using the proto files only', async () => {
    const session = (await harness.as('dev')).headers['phds-session'];
    const settings = { name: 'Independent', redirect_uris: [REDIRECT_URI] };
    const registered = await call('AppService', 'RegisterApp', { settings }, 'gateway', session);
    const { client_id } = registered['app'] as { client_id: string };
    const client = { client_id, client_secret: registered['client_secret'] };
    const opened = await call(
      'AuthorizationService',
      'OpenAuthorization',
      { client, redirect_uri: REDIRECT_URI, scope: HEART },
      'gateway',
    );
    expect(opened['pending_id']).toMatch(/^apr_/);
    const grant = { client, grant_type: 'client_credentials', scope: HEART };
    const issued = await call('TokenService', 'IssueToken', grant, 'gateway');
    expect(issued).toMatchObject({ scope: HEART, expires_in_seconds: 3600 });
  });
});

describe('every unary rpc', () => {
  const rpcs = SERVICES.flatMap(({ name, methods }) =>
    methods.filter(({ methodKind }) => methodKind === 'unary').map((method) => [name, method.name] as const),
  );

  test.each(rpcs)('%s.%s admits exactly one caller', async (service, rpc) => {
    const admitted = rpc === 'EraseUser' || service === 'AppOperatorService' ? 'operator' : 'gateway';
    const others = ['gateway', 'operator', 'health-data', 'consent', 'authorization'].filter(
      (caller) => caller !== admitted,
    );
    for (const caller of [null, ...others]) {
      await expect(call(service, rpc, {}, caller)).rejects.toMatchObject({ code: status.PERMISSION_DENIED });
    }
    const outcome = await call(service, rpc, {}, admitted).catch((error: ServiceError) => error);
    expect(outcome).not.toMatchObject({ code: status.PERMISSION_DENIED });
    expect(outcome).not.toMatchObject({ code: status.INTERNAL });
  });
});

test.each(readSqlFiles(new URL('../src/store/sql/', import.meta.url), readStatement))(
  '%s finds everything by the indexes that its comment names',
  async (_, text) => {
    const owner = await harness.connect();
    await owner.query('SET enable_seqscan = off');
    const plan = await explainGeneric(owner, text);
    expect(plan).not.toContain('Seq Scan');
    expect(listNamedIndexes(text)).not.toEqual([]);
    expect(listIndexes(plan)).toEqual(expect.arrayContaining(listNamedIndexes(text)));
  },
);

describe('over a stream', () => {
  const { issueToken: carried, issueTokens: method } = TokenService.method;
  type Issue = typeof carried;
  type Request = MessageInitShape<Issue['input']>;

  let app: TestApp;
  let streams: CallStreams<Issue['input'], Issue['output']>;
  beforeAll(async () => {
    app = await harness.registerApp();
    const { address } = harness;
    const tokens = () => harness.callAs('gateway');
    const onFailure = () => undefined;
    streams = openCallStreams({ address, audience: 'authorization', tokens, method, carried, onFailure });
    await eventually(() => streams.open.length > 0);
  });
  afterAll(async () => {
    streams?.[Symbol.dispose]();
  });

  /** Asks for tokens over the stream. */
  function issue(request: Request): Promise<IssueTokenResponse> {
    return new Promise((resolve, reject) =>
      streams.open[0]?.send([{ request, timeoutMs: 20_000, resolve, reject }]),
    );
  }

  test('a refresh that is repeated by the unary rpc answers the same pair, and the exchange of a code does not', async () => {
    const code = { client: app, grantType: 'authorization_code', redirectUri: REDIRECT_URI };
    const exchange = { ...code, code: await harness.obtainCode(app) };
    const { refreshToken } = await issue(exchange);
    const refresh = { client: app, grantType: 'refresh_token', refreshToken };
    const lost = await issue(refresh);
    expect(await harness.tokens.issueToken(refresh)).toEqual(lost);
    expect(await reasonOf(harness.tokens.issueToken(exchange))).toBe('invalid_grant');
  });

  test('calls of a message are refused over a stream exactly as by the unary rpc', async () => {
    const requests: Request[] = [
      { client: { ...app, clientSecret: 'wrong' }, grantType: 'client_credentials' },
      {
        client: { clientId: 'app_unknown', clientSecret: app.clientSecret },
        grantType: 'client_credentials',
      },
      { client: app, grantType: 'password' },
      { client: app, grantType: 'authorization_code', code: 'x', redirectUri: 'https://x.test' },
      { client: app, grantType: 'refresh_token', refreshToken: 'x' },
      { client: app, grantType: 'client_credentials', scope: 'unknown' },
    ];
    const refusal = async (answer: Promise<unknown>) => {
      const error = await refusalOf(answer);
      return { ...error, message: error.message };
    };
    const streamed = await Promise.all(requests.map((request) => refusal(issue(request))));
    const unary = await Promise.all(requests.map((request) => refusal(harness.tokens.issueToken(request))));
    expect(streamed).toEqual(unary);
  });

  test('tokens that are introspected at once are all checked in the ledger', async () => {
    const { accessToken } = await issue({ client: app, grantType: 'client_credentials' });
    const answers = await Promise.all(Array.from({ length: 150 }, () => harness.introspect(accessToken)));
    expect(answers.filter(({ ledgerChecked }) => !ledgerChecked)).toEqual([]);
  });
});
