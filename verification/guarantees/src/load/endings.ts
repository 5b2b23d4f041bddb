import type { Tokens } from '@phds/running-system/partner-app';
import { DELETE_OF_THE_GRANT, OTHER_WAYS, type RevocationWay } from '@phds/running-system/revocation-ways';
import type { Ending } from '../protocol/trace.ts';
import { HEART, type HeldToken } from './held-token.ts';

/** What a revocation ends, in the terms of a trace. None here limits the data to certain days. */
type Kind = Exclude<Ending['kind'], 'days'>;

const KINDS: Readonly<Record<string, Kind>> = {
  'DELETE of the grant': 'grant',
  'DELETE of the grant by its app': 'grant',
  'revoking every grant at once': 'grant',
  'revocation of the access token': 'token',
  'revocation of the refresh token': 'family',
  'narrowing of the grant': 'scope',
  'a new approval that drops a scope': 'scope',
  'replay of the code': 'family',
  'reuse of a refresh token': 'family',
  'suspension of the app': 'app',
  'revocation of the app': 'app-life',
};

/** A revocation way with what it ends. */
export interface EndingWay {
  readonly way: RevocationWay;
  readonly kind: Kind;
}

const WAYS: readonly EndingWay[] = [DELETE_OF_THE_GRANT, ...OTHER_WAYS].map((way) => {
  const kind = KINDS[way.name];
  if (kind === undefined) throw new Error(`what does "${way.name}" end?`);
  return { way, kind };
});

/** The way that works in every situation. */
export const DELETION: EndingWay = { way: DELETE_OF_THE_GRANT, kind: 'grant' };

/** Ends a single access token. */
export const TOKEN_REVOCATION: EndingWay = findWay('revocation of the access token');

/** A random way; with `forGood`, only permanent ones, because an earlier request could still undo the others. */
export function pickWay(forGood: boolean): EndingWay {
  const ways = WAYS.filter(({ kind }) => !forGood || (kind !== 'scope' && kind !== 'app'));
  return ways[Math.floor(Math.random() * ways.length)] ?? DELETION;
}

/** Describes an ending for the trace. The epoch is the app's after its revocation. */
export function toEnding(kind: Kind, { facts }: HeldToken, tokens: Tokens, epoch: number): Ending {
  const { token, family, user, app } = facts;
  switch (kind) {
    case 'token':
      return { kind, token };
    case 'family':
      return { kind, family };
    case 'grant':
      return { kind, grant: tokens.grantId };
    case 'scope':
      return { kind, user, app, scope: HEART.scope };
    case 'app':
      return { kind, app };
    case 'app-life':
      return { kind, app, epoch };
  }
}

function findWay(name: string): EndingWay {
  const found = WAYS.find(({ way }) => way.name === name);
  if (found === undefined) throw new Error(`no way "${name}"`);
  return found;
}
