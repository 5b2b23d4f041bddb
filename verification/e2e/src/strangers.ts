import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { Caller } from '@phds/local-stack/key-files';
import { signServiceToken } from './service-tokens.ts';

interface StrangersOptions {
  readonly service: string;
  /** One that the rpcs admit. */
  readonly caller: Caller;
  readonly keys: Readonly<Record<Caller, KeyObject>>;
  readonly session: string;
  readonly accessToken: string;
}

const bearer = (token: string) => `Bearer ${token}`;

/** An `Authorization` of every kind but a valid one, by what it is; null is none. */
export async function listStrangers({
  service,
  caller,
  keys,
  session,
  accessToken,
}: StrangersOptions): Promise<Readonly<Record<string, string | null>>> {
  const key = keys[caller];
  const other = generateKeyPairSync('ed25519').privateKey;
  const claims = { caller, audience: service };
  const sign = async (changes: object, signer = key) =>
    bearer(await signServiceToken(signer, { ...claims, ...changes }));
  const elsewhere = service === 'consent' ? 'health-data' : 'consent';
  const neighbour = caller === 'gateway' ? 'operator' : 'gateway';
  const valid = await sign({});
  const [header = '', payload = ''] = valid.slice('Bearer '.length).split('.');
  const none = Buffer.from('{"alg":"none","typ":"service+jwt"}').toString('base64url');
  return {
    'no token': null,
    'an empty token': 'Bearer ',
    garbage: 'Bearer x.y.z',
    'another scheme': valid.replace('Bearer', 'Basic'),
    'a token for another service': await sign({ audience: elsewhere }),
    'an expired token': await sign({ issuedIn: -600, lifetime: 300 }),
    'a token of the future': await sign({ issuedIn: 120 }),
    'a token that lives ten years': await sign({ lifetime: 315_360_000 }),
    'another type of token': await sign({ typ: 'JWT' }),
    'a token signed with an unknown key': await sign({}, other),
    "a token signed with another caller's key": await sign({}, keys[neighbour]),
    'an unknown caller': await sign({ caller: 'reporting' }, other),
    'a caller under the name of another key': await sign({ caller: 'reporting', kid: caller }),
    'a token without its signature': bearer(`${header}.${payload}.`),
    'a token with the algorithm none': bearer(`${none}.${payload}.`),
    "a person's session": bearer(session),
    "an app's access token": bearer(accessToken),
  };
}
