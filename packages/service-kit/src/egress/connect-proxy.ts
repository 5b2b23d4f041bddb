import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';

/** An HTTP proxy, with its user name and password in the URL if it asks for them. */
export interface EgressProxy {
  readonly url: URL;
  /** Receives why the proxy serves nobody: it cannot be reached, or refuses the credentials. Contains no credentials. */
  readonly onFailure: (error: unknown) => void;
}

export interface Destination {
  /** Tried in this order. */
  readonly addresses: readonly string[];
  readonly port: number;
  readonly signal: AbortSignal;
}

/** The answer of a proxy that did not connect. */
class ProxyRefusal extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`the proxy answered ${status}`);
    this.status = status;
  }
}

/** Has the proxy connect to one of the addresses. Rejects if it connects to none. */
export async function connectThrough(proxy: EgressProxy, destination: Destination): Promise<Duplex> {
  let last: unknown;
  for (const address of destination.addresses) {
    try {
      return await connectOnce(proxy.url, { ...destination, address });
    } catch (error) {
      last = error;
      // Other refusals are about the destination.
      const isAboutDestination = error instanceof ProxyRefusal && error.status !== 407;
      if (isAboutDestination) continue;
      if (!destination.signal.aborted) proxy.onFailure(error);
      break;
    }
  }
  throw last;
}

function connectOnce(
  proxy: URL,
  { address, port, signal }: Omit<Destination, 'addresses'> & { readonly address: string },
): Promise<Duplex> {
  const { promise, resolve, reject } = Promise.withResolvers<Duplex>();
  const authority = `${isIP(address) === 6 ? `[${address}]` : address}:${port}`;
  const isSecure = proxy.protocol === 'https:';
  const sending = (isSecure ? httpsRequest : httpRequest)({
    host: proxy.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: proxy.port || (isSecure ? 443 : 80),
    method: 'CONNECT',
    path: authority,
    headers: { host: authority, ...toCredentials(proxy) },
    agent: false,
    signal,
  });
  sending.on('error', reject);
  sending.once('connect', ({ statusCode = 0 }, socket) => {
    if (statusCode === 200) return resolve(socket);
    socket.destroy();
    reject(new ProxyRefusal(statusCode));
  });
  sending.end();
  return promise;
}

function toCredentials({ username, password }: URL): Record<string, string> {
  if (username === '') return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}
