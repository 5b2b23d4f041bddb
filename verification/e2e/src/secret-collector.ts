import { createHash, randomBytes } from 'node:crypto';
import type { Stack } from '@phds/local-stack/stack';
import { expectStatus, type PartnerApp, registerApp, toTokens } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { type Answer, send, toBasic } from '@phds/running-system/request';
import { HEART, PROFILE } from '@phds/running-system/revocation-ways';
import { signOut } from './sessions.ts';
import { SignInVisit } from './sign-in-visit.ts';

const BOTH = [HEART, PROFILE];

/** Secrets that must not appear in any log or table, by name. */
interface CollectedSecrets {
  readonly secrets: Map<string, string>;
  /** Values of `state`, which the table of open authorizations stores but no log may contain. */
  readonly states: Map<string, string>;
}

/** Uses the service as an app and a user, and collects every secret that it sends or receives. */
export class SecretCollector {
  readonly collected: CollectedSecrets = { secrets: new Map(), states: new Map() };
  readonly #gateway: string;
  app!: PartnerApp;
  session = '';
  developer = '';

  constructor(gateway: string) {
    this.#gateway = gateway;
  }

  remember(name: string, secret: string): string {
    if (secret.length < 20) throw new Error(`${name} is too short to be looked for`);
    this.collected.secrets.set(`${name} ${this.collected.secrets.size}`, secret);
    return secret;
  }

  async begin(stack: Pick<Stack, 'identityProviderUrl'>): Promise<void> {
    this.developer = this.remember('session', await signIn(stack, 'developer'));
    this.session = this.remember('session', await signIn(stack, 'ada'));
    this.app = await registerApp(this.#gateway, this.developer);
    this.remember('client secret', this.app.clientSecret);
  }

  /** Signs in at the identity provider as a browser does, and remembers what it received. Returns the ID token. */
  async signInAtProvider(user: string): Promise<string> {
    const visit = new SignInVisit();
    await visit.signIn(this.#gateway, user);
    for (const { searchParams } of visit.opened) {
      for (const name of ['state', 'nonce', 'code']) {
        const value = searchParams.get(name);
        if (value !== null) this.remember(`${name} of a sign-in`, value);
      }
    }
    const ofGateway = visit.received.filter(({ name }) => /^(session|sign-in-.+)$/.test(name));
    for (const { value } of ofGateway) this.remember('cookie of a sign-in', value);
    return visit.find(this.#gateway, 'session') ?? '';
  }

  signOut(idToken: string): Promise<Answer> {
    return signOut(this.#gateway, idToken);
  }

  /** Requests approval, approves, and returns the code; with PKCE and a state. */
  async newCode(): Promise<{ code: string; verifier: string }> {
    const verifier = this.remember('code verifier', randomBytes(32).toString('base64url'));
    const state = `state-${randomBytes(24).toString('hex')}`;
    this.collected.states.set(`state ${this.collected.states.size}`, state);
    const opened = await this.app.authorize(BOTH, {
      state,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    });
    const { pending_id } = expectStatus(201, opened).body;
    const approved = expectStatus(200, await this.app.approveAs(this.session, pending_id));
    const target = new URL(approved.body.data.redirectUri);
    if (target.searchParams.get('state') !== state) throw new Error('the state did not come back');
    return { code: this.remember('code', target.searchParams.get('code') ?? ''), verifier };
  }

  async exchange({ code, verifier }: { code: string; verifier: string }) {
    return this.#tokens(await this.app.exchange(code, { code_verifier: verifier }));
  }

  async refresh(refreshToken: string) {
    return this.#tokens(await this.app.refresh(refreshToken));
  }

  async rotate(): Promise<void> {
    const url = `${this.#gateway}/developer/apps/${this.app.clientId}/rotate-secret`;
    const answer = expectStatus(200, await send(url, { method: 'POST', bearer: this.developer }));
    this.app.clientSecret = this.remember('client secret', answer.body.data.clientSecret);
  }

  /** The latest secret of each kind. */
  oneOfEachKind(): string[] {
    const kinds = [...this.collected.secrets].map(([name, secret]) => [name.replace(/ \d+$/, ''), secret]);
    return Object.values(Object.fromEntries(kinds));
  }

  /** Sends a secret in wrong places, as a faulty client would. */
  async misplace(secret: string): Promise<void> {
    const at = (path: string) => this.#gateway + path;
    const json = 'application/json';
    await Promise.all([
      send(at(`/api/v1/profile?access_token=${secret}`)),
      send(at(`/api/v1/medications/${secret}/adherence`), { bearer: secret }),
      send(at(`/${secret}`)),
      send(at(`/approve/${secret}`)),
      send(at(`/partner/consent/grants/${secret}`), { bearer: this.session }),
      send(at(`/partner/consent/grants?status=${secret}`), { bearer: this.session }),
      send(at(`/developer/apps/${secret}`), { bearer: this.developer }),
      send(at(`/oauth/authorize?client_id=${secret}&state=${secret}`)),
      send(at('/oauth/token'), { json: { client_id: secret, client_secret: secret, code: secret } }),
      send(at('/oauth/token'), { raw: `{"client_secret":"${secret}`, headers: { 'Content-Type': json } }),
      send(at('/oauth/token'), {
        headers: { Authorization: toBasic(secret, secret) },
        form: { scope: secret },
      }),
      send(at('/partner/consent/grants'), { headers: { Cookie: `session=${secret}` } }),
      send(at(`/sign-in?return_to=/${secret}&state=${secret}`)),
      send(at(`/sign-in/callback?code=${secret}&state=${secret}&iss=${secret}`), {
        headers: { Cookie: `sign-in-${secret.slice(0, 16)}=${secret}` },
      }),
      send(at('/sign-out/back-channel'), { form: { logout_token: secret } }),
      // Signing out with a session would end it for the rest of the test.
      ...(secret.startsWith('ey') ? [] : [this.signOut(secret)]),
      this.app.revoke(secret),
      this.app.introspect(secret),
      this.app.exchange(secret),
      this.app.refresh(secret),
      this.app.authorize([secret]),
      this.app.post('/oauth/token', { grant_type: secret }),
    ]);
  }

  #tokens(answer: Answer) {
    const tokens = toTokens(expectStatus(200, answer));
    this.remember('access token', tokens.accessToken);
    this.remember('refresh token', tokens.refreshToken);
    return tokens;
  }
}
