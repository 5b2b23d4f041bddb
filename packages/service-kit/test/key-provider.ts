import { createServer, type ServerResponse } from 'node:http';
import { listenOnLoopback } from '@phds/test-kit/loopback';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK } from 'jose';

/** A key that signs sessions. */
export interface Key {
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
}

export async function createKey(kid: string): Promise<Key> {
  const { privateKey, publicKey } = await generateKeyPair('EdDSA');
  return { kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: 'EdDSA' } };
}

/** An identity provider whose key set, answer and availability the test changes. */
export class KeyProvider {
  keys: readonly Key[];
  requests = 0;
  answer: (response: ServerResponse) => void = this.sendKeys;
  readonly #server = createServer((_, response) => {
    this.requests += 1;
    this.answer(response);
  });
  url = '';

  constructor(keys: readonly Key[]) {
    this.keys = keys;
  }

  async start(): Promise<void> {
    this.url = `http://127.0.0.1:${await listenOnLoopback(this.#server)}/jwks`;
  }

  sendKeys(response: ServerResponse): void {
    response.end(JSON.stringify({ keys: this.keys.map((key) => key.jwk) }));
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
