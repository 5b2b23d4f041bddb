import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { leasePort } from '@phds/local-stack/servers/leased-ports';
import { listenOnLoopback } from '@phds/test-kit/loopback';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

/** How an answer deviates from the right one. */
export interface Deviation {
  /** Claims of the ID token; `undefined` removes one. */
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, string>>;
  /** Parameters of the callback; `undefined` removes one. */
  readonly callback?: Readonly<Record<string, string | undefined>>;
  /** The token endpoint answers this instead. */
  readonly tokenAnswer?: { readonly status: number; readonly body: unknown };
}

/** A provider that answers as a test says, also wrongly. It checks the client, the redirect URI and PKCE as a right one does. */
interface FakeOpenidProvider extends AsyncDisposable {
  readonly issuer: string;
  /** Environment of a gateway that is its client. */
  readonly settings: Readonly<Record<string, string>>;
  /** The metadata, which a test may change. */
  readonly metadata: Record<string, unknown>;
  /** Forms that the token endpoint received, with the client's credentials. */
  readonly tokenRequests: Record<string, string>[];
  /** What signs in a person: the browser is at `location`; returns the path and query of the callback. */
  authorize(location: string, user: string, deviation?: Deviation): string;
  sign(claims: Record<string, unknown>, header?: Readonly<Record<string, string>>): Promise<string>;
  /** The public key, as text of a JWK. */
  readonly publicKey: string;
  /** Time of issue of its tokens. */
  now: () => Date;
  stop(): Promise<void>;
  start(): Promise<void>;
}

export const PUBLIC_URL = 'https://health.test';
const CLIENT = { id: 'phds web', secret: 'secret: of the client+%' };

interface Code {
  readonly request: URLSearchParams;
  readonly user: string;
  readonly deviation: Deviation;
}

export async function startFakeOpenidProvider(): Promise<FakeOpenidProvider> {
  const { privateKey, publicKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid: 'provider-1', alg: 'EdDSA', use: 'sig' };
  const codes = new Map<string, Code>();
  const server = createServer((request, response) => void answer(request, response));
  const port = await listenOnLoopback(server, await leasePort());
  const issuer = `http://127.0.0.1:${port}`;

  const provider: FakeOpenidProvider = {
    issuer,
    publicKey: JSON.stringify(jwk),
    tokenRequests: [],
    metadata: {
      issuer,
      authorization_endpoint: `${issuer}/authorize?tenant=1`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
      end_session_endpoint: `${issuer}/logout`,
      id_token_signing_alg_values_supported: ['EdDSA', 'RS256', 'ES256', 'PS256', 'HS256'],
      authorization_response_iss_parameter_supported: true,
    },
    settings: {
      PUBLIC_URL,
      OIDC_ISSUER: issuer,
      OIDC_CLIENT_ID: CLIENT.id,
      OIDC_CLIENT_SECRET: CLIENT.secret,
      SIGN_IN_KEY: Buffer.alloc(32, 7).toString('base64'),
      SESSION_ISSUER: issuer,
      SESSION_AUDIENCE: CLIENT.id,
      SESSION_JWKS: JSON.stringify({ keys: [jwk] }),
    },
    now: () => new Date(),
    authorize(location, user, deviation = {}) {
      const request = new URL(location).searchParams;
      const code = `code-${codes.size}-${'c'.repeat(30)}`;
      codes.set(code, { request, user, deviation });
      const callback = new URL(request.get('redirect_uri') ?? '');
      const parameters = { code, state: request.get('state') ?? '', iss: issuer, ...deviation.callback };
      for (const [name, value] of Object.entries(parameters)) {
        if (value !== undefined) callback.searchParams.append(name, value);
      }
      return callback.pathname + callback.search;
    },
    sign: (claims, header = {}) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'EdDSA', kid: 'provider-1', ...header }).sign(privateKey),
    stop: () => {
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      server.closeAllConnections();
      return closed.promise;
    },
    start: async () => void (await listenOnLoopback(server, port)),
    [Symbol.asyncDispose]: async () => {
      if (server.listening) await provider.stop();
    },
  };
  return provider;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === '/.well-known/openid-configuration')
      return sendJson(response, 200, provider.metadata);
    if (request.url === '/jwks') return sendJson(response, 200, { keys: [jwk] });
    const form = Object.fromEntries(new URLSearchParams(await text(request)));
    provider.tokenRequests.push({ ...form, authorization: request.headers.authorization ?? '' });
    const code = codes.get(form['code'] ?? '');
    codes.delete(form['code'] ?? '');
    if (!isFromClient(request, form)) return sendJson(response, 401, { error: 'invalid_client' });
    if (code === undefined || !matches(code.request, form))
      return sendJson(response, 400, { error: 'invalid_grant' });
    const { tokenAnswer } = code.deviation;
    if (tokenAnswer !== undefined) return sendJson(response, tokenAnswer.status, tokenAnswer.body);
    sendJson(response, 200, {
      access_token: 'access-token-of-provider',
      token_type: 'Bearer',
      id_token: await toIdToken(code),
    });
  }

  async function toIdToken({ request, user, deviation }: Code): Promise<string> {
    const now = Math.floor(provider.now().getTime() / 1000);
    const own = {
      iss: issuer,
      aud: CLIENT.id,
      sub: user,
      nonce: request.get('nonce'),
      iat: now,
      exp: now + 3_600,
    };
    return provider.sign({ ...own, sid: `sid-of-${user}`, ...deviation.claims }, deviation.header);
  }
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** RFC 6749 section 2.3.1: both parts are form-encoded. */
function isFromClient(request: IncomingMessage, form: Record<string, string>): boolean {
  const encode = (part: string) => new URLSearchParams({ '': part }).toString().slice(1);
  const basic = Buffer.from(`${encode(CLIENT.id)}:${encode(CLIENT.secret)}`).toString('base64');
  if (request.headers.authorization === `Basic ${basic}`) return true;
  return form['client_id'] === CLIENT.id && form['client_secret'] === CLIENT.secret;
}

function matches(request: URLSearchParams, form: Record<string, string>): boolean {
  const challenge = createHash('sha256')
    .update(form['code_verifier'] ?? '')
    .digest('base64url');
  return (
    request.get('code_challenge') === challenge &&
    request.get('code_challenge_method') === 'S256' &&
    request.get('redirect_uri') === form['redirect_uri']
  );
}
