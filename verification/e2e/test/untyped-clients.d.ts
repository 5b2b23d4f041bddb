// The parts used here of client libraries without types.

declare module 'simple-oauth2' {
  export interface Token {
    readonly access_token: string;
    readonly refresh_token: string;
    readonly scope: string;
    readonly sub: string;
  }

  export interface AccessToken {
    readonly token: Token;
    expired(): boolean;
    refresh(parameters?: Readonly<Record<string, string>>): Promise<AccessToken>;
    revoke(kind: 'access_token' | 'refresh_token'): Promise<void>;
    revokeAll(): Promise<void>;
  }

  export interface ModuleOptions {
    readonly client: { readonly id: string; readonly secret: string };
    readonly auth: { readonly tokenHost: string };
    readonly options?: { readonly authorizationMethod: 'body'; readonly bodyFormat: 'json' };
  }

  export class AuthorizationCode {
    constructor(options: ModuleOptions);
    authorizeURL(parameters: {
      readonly redirect_uri: string;
      readonly scope: readonly string[];
      readonly state: string;
    }): string;
    getToken(parameters: { readonly code: string; readonly redirect_uri: string }): Promise<AccessToken>;
    /** A token that was stored. */
    createToken(token: Partial<Token>): AccessToken;
  }

  export class ClientCredentials {
    constructor(options: ModuleOptions);
    getToken(parameters: object): Promise<AccessToken>;
  }
}

declare module 'passport-oauth2' {
  export interface StrategyOptions {
    readonly authorizationURL: string;
    readonly tokenURL: string;
    readonly clientID: string;
    readonly clientSecret: string;
    readonly callbackURL: string;
    readonly scope: readonly string[];
    readonly pkce: boolean;
    readonly state: boolean;
  }

  export class Strategy {
    constructor(
      options: StrategyOptions,
      verify: (
        accessToken: string,
        refreshToken: string,
        profile: unknown,
        done: (error: null, user: object) => void,
      ) => void,
    );
    /** Used to refresh tokens. */
    readonly _oauth2: {
      getOAuthAccessToken(
        code: string,
        parameters: { readonly grant_type: 'refresh_token' },
        done: (error: unknown, accessToken: string, refreshToken: string) => void,
      ): void;
    };
  }
}

declare module 'passport' {
  import type { RequestHandler } from 'express';

  export class Passport {
    use(name: string, strategy: object): void;
    authenticate(name: string, options: { readonly session: false }): RequestHandler;
  }
}
