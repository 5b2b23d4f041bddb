import { expectStatus, type PartnerApp, type Tokens, toTokens } from './partner-app.ts';
import { type Answer, type RequestOptions, send } from './request.ts';

export const HEART = 'read:health-data:heart';
export const PROFILE = 'read:profile';
const BOTH = [HEART, PROFILE] as const;

/** A person with an app of their own, whose access is granted and revoked repeatedly. */
export interface PersonWithApp {
  readonly app: PartnerApp;
  /** Of the user, who is the app's developer too. */
  readonly session: string;
}

/** What the app holds at the time of the revocation. */
export interface Held extends Tokens {
  readonly code: string;
  readonly codeVerifier: string;
}

/** One way to end an access. */
export interface RevocationWay {
  readonly name: string;
  /** Ends the access through this gateway. Resolves when acknowledged; throws when refused. */
  end(person: PersonWithApp, held: Held, gateway: string): Promise<void>;
  /** What remains: nothing (every request gets 401), or one scope (the other one gets 403). */
  readonly leaves: 'nothing' | 'profile';
  /** Makes it possible for the app to connect again. */
  restore?(person: PersonWithApp, held: Held): Promise<void>;
}

/** The way that the service's promise refers to. */
export const DELETE_OF_THE_GRANT: RevocationWay = {
  name: 'DELETE of the grant',
  leaves: 'nothing',
  end: ({ session }, { grantId }, gateway) =>
    act(200, `${gateway}/partner/consent/grants/${grantId}`, { method: 'DELETE', bearer: session }),
};

/** All other ways, except rotation of a secret, which ends no token. */
export const OTHER_WAYS: readonly RevocationWay[] = [
  {
    name: 'revoking every grant at once',
    leaves: 'nothing',
    end: ({ session }, _held, gateway) =>
      act(200, `${gateway}/partner/consent/grants/revoke-all`, { method: 'POST', bearer: session }),
  },
  {
    name: 'DELETE of the grant by its app',
    leaves: 'nothing',
    end: async ({ app }, { grantId }, gateway) => {
      const bearer = await app.at(gateway).userlessToken();
      await act(200, `${gateway}/oauth/grants/${grantId}`, { method: 'DELETE', bearer });
    },
  },
  {
    name: 'revocation of the access token',
    leaves: 'nothing',
    end: ({ app }, { accessToken }, gateway) => acknowledged(200, app.at(gateway).revoke(accessToken)),
  },
  {
    name: 'revocation of the refresh token',
    leaves: 'nothing',
    end: ({ app }, { refreshToken }, gateway) => acknowledged(200, app.at(gateway).revoke(refreshToken)),
  },
  {
    name: 'narrowing of the grant',
    leaves: 'profile',
    end: ({ session }, { grantId }, gateway) =>
      act(200, `${gateway}/partner/consent/grants/${grantId}`, {
        method: 'PATCH',
        bearer: session,
        json: { scopes: [PROFILE] },
      }),
  },
  {
    name: 'a new approval that drops a scope',
    leaves: 'profile',
    end: async ({ app, session }, _held, gateway) => {
      await app.at(gateway).ask(session, { scopes: BOTH }, { scopes: [PROFILE] });
    },
  },
  {
    name: 'replay of the code',
    leaves: 'nothing',
    end: ({ app }, { code, codeVerifier }, gateway) =>
      refusedForGood(app.at(gateway).exchange(code, { code_verifier: codeVerifier })),
  },
  {
    name: 'reuse of a refresh token',
    leaves: 'nothing',
    end: async ({ app }, { refreshToken }, gateway) => {
      const next = toTokens(expectStatus(200, await app.refresh(refreshToken)));
      expectStatus(200, await app.refresh(next.refreshToken));
      await refusedForGood(app.at(gateway).refresh(refreshToken));
    },
  },
  {
    name: 'suspension of the app',
    leaves: 'nothing',
    end: (person, _held, gateway) => setStatus(person, gateway, 'suspended'),
    restore: async (person, { accessToken }) => {
      const { app } = person;
      await setStatus(person, app.gateway, 'active');
      // A suspension is reversible: the same token reads the same data again.
      await acknowledged(200, app.read(accessToken, '/api/v1/health-data/heart'));
    },
  },
  {
    name: 'revocation of the app',
    leaves: 'nothing',
    end: (person, _held, gateway) => setStatus(person, gateway, 'revoked'),
    restore: async (person, { accessToken }) => {
      const { app } = person;
      await setStatus(person, app.gateway, 'active');
      app.clientSecret = await rotateSecret(person, app.gateway);
      await acknowledged(401, app.read(accessToken, '/api/v1/health-data/heart'));
    },
  },
];

/** The whole flow from authorization to tokens; also returns what a replay of the code needs. */
export async function connect({ app, session }: PersonWithApp): Promise<Held> {
  const approved = await app.ask(session, { scopes: BOTH });
  return { code: approved.code, codeVerifier: approved.kept.codeVerifier, ...(await app.finish(approved)) };
}

/** Rotates the app's secret through this gateway and returns the new one. */
export async function rotateSecret({ app, session }: PersonWithApp, gateway: string): Promise<string> {
  const url = `${gateway}/developer/apps/${app.clientId}/rotate-secret`;
  return expectStatus(200, await send(url, { method: 'POST', bearer: session })).body.data.clientSecret;
}

function setStatus({ app, session }: PersonWithApp, gateway: string, status: string): Promise<void> {
  return act(200, `${gateway}/developer/apps/${app.clientId}/status`, { bearer: session, json: { status } });
}

function act(status: number, url: string, options: RequestOptions): Promise<void> {
  return acknowledged(status, send(url, options));
}

async function acknowledged(status: number, answer: Promise<Answer>): Promise<void> {
  expectStatus(status, await answer);
}

/** A refusal of the proof, as by a gateway whose clock is wrong, is another 400 and ends nothing. */
async function refusedForGood(answer: Promise<Answer>): Promise<void> {
  const { body, text } = expectStatus(400, await answer);
  if (body?.error !== 'invalid_grant') throw new Error(`not invalid_grant: ${text}`);
}
