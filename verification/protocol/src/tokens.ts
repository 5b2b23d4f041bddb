import { sha256 } from '@phds/service-kit/secrets';
import type { Asking } from './asking.ts';
import type { ActionOf } from './history.ts';
import type { Requests } from './requests.ts';
import type { System } from './system.ts';
import { type HeldFamily, pick, type RegisteredApp, type Wallet } from './wallet.ts';

export const REDIRECT_URI = 'https://app.test/callback';

type TokenRequest =
  | { readonly grantType: 'authorization_code'; readonly code: string; readonly redirectUri: string }
  | { readonly grantType: 'refresh_token'; readonly refreshToken: string };

/** The apps' actions at the token endpoint. */
export class Tokens {
  readonly #system: System;
  readonly #asking: Asking;
  readonly #wallet: Wallet;
  readonly #requests: Requests;

  constructor(system: System, asking: Asking, wallet: Wallet, requests: Requests) {
    this.#system = system;
    this.#asking = asking;
    this.#wallet = wallet;
    this.#requests = requests;
  }

  async exchange(family: HeldFamily): Promise<void> {
    await this.#issue(family, toExchange(family));
  }

  async refresh({ which }: ActionOf<'refresh'>): Promise<void> {
    const family = pick(this.#wallet.families, which);
    const refreshToken = family?.refreshTokens.at(-1);
    if (family === undefined || refreshToken === undefined) return;
    // Of two concurrent ones, one may count as reuse.
    if (family.refreshing > 0) this.#asking.note([{ kind: 'family', family: family.facts.family }]);
    family.refreshing += 1;
    await this.#issue(family, { grantType: 'refresh_token', refreshToken });
    family.refreshing -= 1;
  }

  /** Presents a refresh token whose successor was used: it is refused, and the family ends. */
  async reuse({ which }: ActionOf<'reuse'>): Promise<void> {
    const family = pick(this.#wallet.families, which);
    const refreshToken = family?.refreshTokens.at(-3);
    if (family === undefined || refreshToken === undefined) return;
    await this.#provoke(family, { grantType: 'refresh_token', refreshToken });
  }

  /** Presents a code that was exchanged: it is refused, and everything derived from it ends. */
  async replay({ which }: ActionOf<'replay'>): Promise<void> {
    const family = pick(this.#wallet.families, which);
    if (family !== undefined) await this.#provoke(family, toExchange(family));
  }

  async revokeToken({ which }: ActionOf<'revoke-token'>): Promise<void> {
    const held = pick(this.#wallet.tokens, which);
    if (held === undefined) return;
    const { app, facts, secret: token } = held;
    await this.#asking.end([{ kind: 'token', token: facts.token }], () =>
      this.#system.tokens.revokeToken({ client: toClient(app), token }),
    );
  }

  async revokeFamily({ which }: ActionOf<'revoke-family'>): Promise<void> {
    const held = pick(this.#wallet.families, which);
    const token = held?.refreshTokens[0];
    if (held === undefined || token === undefined) return;
    const { app, facts } = held;
    await this.#asking.end([{ kind: 'family', family: facts.family }], () =>
      this.#system.tokens.revokeToken({ client: toClient(app), token }),
    );
  }

  /** Ends a grant by its app, with a token of the app itself. */
  async endGrant({ which }: ActionOf<'end-grant'>): Promise<void> {
    const { tokens } = this.#system;
    const grant = pick(this.#wallet.grants, which);
    if (grant === undefined) return;
    const { id, app } = grant;
    await this.#asking.end([{ kind: 'grant', grant: id }], async () => {
      const own = await tokens.issueToken({ client: toClient(app), grantType: 'client_credentials' });
      return tokens.endOwnGrant({ tokenHash: sha256(own.accessToken), id });
    });
  }

  /** The refusal acknowledges the end of the family. */
  async #provoke({ app, facts }: HeldFamily, request: TokenRequest): Promise<void> {
    await this.#asking.end(
      [{ kind: 'family', family: facts.family }],
      () => this.#system.tokens.issueToken({ client: toClient(app), ...request }),
      'invalid_grant',
    );
  }

  async #issue(family: HeldFamily, request: TokenRequest): Promise<void> {
    const { tokens, control } = this.#system;
    const { app, facts, refreshTokens } = family;
    const { answer } = await this.#asking.insist(() =>
      tokens.issueToken({ client: toClient(app), ...request }),
    );
    if (answer === null) return;
    const { accessToken: secret, refreshToken } = answer;
    const hash = sha256(secret);
    const { rows } = await control.databases.authorization.query<{ expires_at: Date }>(
      'SELECT expires_at FROM access_token WHERE hash = $1',
      [hash],
    );
    const expiresAt = this.#requests.toLasting(rows[0]?.expires_at.getTime() ?? 0);
    const held = { app, facts: { ...facts, token: secret, expiresAt }, secret, hash, remembered: null };
    const principal = await this.#requests.introspect(held);
    // A concurrent or repeated refresh gets the same pair.
    if (refreshTokens.includes(refreshToken)) return;
    if (refreshTokens.length === 0) this.#wallet.families.push(family);
    refreshTokens.push(refreshToken);
    this.#wallet.tokens.push({ ...held, remembered: typeof principal === 'string' ? null : principal });
  }
}

export function toClient({ clientId, clientSecret }: RegisteredApp) {
  return { clientId, clientSecret };
}

function toExchange({ code }: HeldFamily): TokenRequest {
  return { grantType: 'authorization_code', code, redirectUri: REDIRECT_URI };
}
