import { hashText, randomText } from './base64url.ts';
import type { Attempt, HttpRequest } from './http.ts';
import type { Signer } from './signer.ts';
import type { TokenType } from './token-store.ts';

/** The app as the service knows it. */
interface AppIdentity {
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  /** Signs client assertions, in place of the secret. */
  readonly clientKey: Signer | undefined;
  /** Signs DPoP proofs. */
  readonly dpop: Signer | undefined;
  readonly baseUrl: string;
  /** The public address of the service, which assertions and proofs name; it may differ from `baseUrl`. */
  readonly issuer: string;
}

/** The parts of a request that authenticate it. */
export type Authentication = Pick<HttpRequest, 'authorization' | 'sign'>;

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const ASSERTION_SECONDS = 60;
/** The endpoints that bind a code or tokens to the key of a proof. */
const BINDING = ['/oauth/token', '/oauth/par'];

/** Authenticates requests: as the app, or with one of its access tokens. */
export class Credentials {
  readonly #app: AppIdentity;

  constructor(app: AppIdentity) {
    this.#app = app;
  }

  get clientId(): string {
    return this.#app.clientId;
  }

  /** Whether the app has a secret or a key: a proxy may add the secret in its place. */
  get areComplete(): boolean {
    const { clientSecret, clientKey, dpop } = this.#app;
    return clientSecret !== undefined || clientKey !== undefined || dpop !== undefined;
  }

  /** A request as the app: its secret by HTTP Basic (RFC 6749 2.3.1), or an assertion (RFC 7523). */
  ofApp(path: string): Authentication {
    const { clientId, clientSecret, clientKey, dpop } = this.#app;
    const isBound = dpop !== undefined && BINDING.includes(path);
    const sign = async (attempt: Attempt) => ({
      form: clientKey === undefined ? {} : await this.#assert(clientKey, attempt.seconds),
      proof: isBound ? await this.#prove(dpop, attempt) : undefined,
    });
    const signed = clientKey === undefined && !isBound ? {} : { sign };
    if (clientSecret === undefined) return signed;
    const pair = `${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`;
    return { ...signed, authorization: `Basic ${btoa(pair)}` };
  }

  /** A request with an access token. */
  ofToken(type: TokenType, accessToken: string): Authentication {
    const { dpop } = this.#app;
    if (type !== 'DPoP' || dpop === undefined) return { authorization: `Bearer ${accessToken}` };
    const sign = async (attempt: Attempt) => ({
      proof: await this.#prove(dpop, attempt, { ath: await hashText(accessToken) }),
    });
    return { authorization: `DPoP ${accessToken}`, sign };
  }

  async #assert(clientKey: Signer, seconds: number) {
    const { clientId, issuer } = this.#app;
    const claims = { iss: clientId, sub: clientId, aud: issuer, iat: seconds, jti: randomText() };
    return {
      client_assertion_type: ASSERTION_TYPE,
      client_assertion: await clientKey.assert({ ...claims, exp: seconds + ASSERTION_SECONDS }),
    };
  }

  #prove(dpop: Signer, { method, url, seconds }: Attempt, more: object = {}): Promise<string> {
    const { baseUrl, issuer } = this.#app;
    const htu = issuer + (url.origin + url.pathname).slice(baseUrl.length);
    return dpop.prove({ htm: method, htu, iat: seconds, jti: randomText(), ...more });
  }
}
