import { Resolver } from 'node:dns/promises';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import type { WebhookFailure } from '@phds/catalog/webhooks';
import ipaddr from 'ipaddr.js';
import type { EventPoster, EventRequest } from '../app/ports.ts';
import { connectThrough, type EgressProxy } from './connect-proxy.ts';

/** For name, connection, TLS, request and answer together. */
const ATTEMPT_MS = 10_000;
/** More of an answer is not read. */
const MAX_ANSWER_BYTES = 1_024;

export interface PosterOptions {
  readonly resolve: ResolveName;
  /** For the local stack: loopback addresses, and http to them. */
  readonly allowLoopback: boolean;
  readonly attemptMs?: number;
  /** Every https request goes through it. Default: none. */
  readonly proxy?: EgressProxy;
}

/**
 * Sends events over HTTPS to public addresses only. All addresses of the host have to be public, and the connection goes to one of those
 * that were checked, so a name that resolves otherwise the next time changes nothing. A proxy is told the address, not the name, so that it
 * resolves nothing. Redirects are not followed.
 */
export function createHttpsPoster(options: PosterOptions): EventPoster {
  const isAllowed = (address: string) =>
    isPublicAddress(address) || (options.allowLoopback && isLoopbackAddress(address));
  return {
    mayRequest(url) {
      const host = hostOf(new URL(url));
      return isIP(host) === 0 || isAllowed(host);
    },
    async post(request, signal) {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(options.attemptMs ?? ATTEMPT_MS)]);
      const answer = await attempt(request, options, isAllowed, limit).catch((error: unknown) => ({
        status: null,
        failure: limit.aborted ? 'timed_out' : toFailure(error),
      }));
      signal.throwIfAborted();
      return answer;
    },
  };
}

type Answer = Awaited<ReturnType<EventPoster['post']>>;

async function attempt(
  request: EventRequest,
  { resolve, allowLoopback, proxy }: PosterOptions,
  isAllowed: (address: string) => boolean,
  limit: AbortSignal,
): Promise<Answer> {
  const url = new URL(request.url);
  const addresses = await untilAborted(addressesOf(hostOf(url), resolve, allowLoopback), limit);
  if (addresses.length === 0) return { status: null, failure: 'name_not_resolved' };
  if (!addresses.every(isAllowed)) return { status: null, failure: 'address_not_allowed' };
  // Without TLS nobody would know who receives it.
  if (url.protocol !== 'https:' && !addresses.every(isLoopbackAddress)) {
    return { status: null, failure: 'address_not_allowed' };
  }
  const socket =
    proxy !== undefined && url.protocol === 'https:'
      ? await secureThrough(proxy, url, addresses, limit)
      : undefined;
  const status = await send(url, request, { addresses, socket, signal: limit });
  if (status >= 200 && status < 300) return { status, failure: null };
  return { status, failure: status >= 300 && status < 400 ? 'redirected' : 'status' };
}

/** Without the brackets of an IPv6 address. */
function hostOf(url: URL): string {
  return url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
}

async function addressesOf(
  host: string,
  resolve: ResolveName,
  allowLoopback: boolean,
): Promise<readonly string[]> {
  if (isIP(host) !== 0) return [host];
  // RFC 6761, section 6.3: such names are never asked of DNS.
  if (allowLoopback && (host === 'localhost' || host.endsWith('.localhost'))) return ['127.0.0.1'];
  return resolve(host).catch(() => []);
}

function untilAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', abort));
}

/** A connection to one of the addresses through the proxy, with TLS to the receiver, whose certificate is checked for the name. */
async function secureThrough(
  proxy: EgressProxy,
  url: URL,
  addresses: readonly string[],
  signal: AbortSignal,
): Promise<TLSSocket> {
  const host = hostOf(url);
  const socket = await connectThrough(proxy, { addresses, port: Number(url.port || 443), signal });
  return connectTls({ socket, host, ...(isIP(host) === 0 && { servername: host }) });
}

interface Way {
  readonly addresses: readonly string[];
  /** The connection to use. Undefined: a new one to one of the addresses. */
  readonly socket: TLSSocket | undefined;
  readonly signal: AbortSignal;
}

/** Connects to one of the addresses, whatever the name resolves to by now; certificates are checked for the name. */
function send(
  url: URL,
  { headers, body }: EventRequest,
  { addresses, socket, signal }: Way,
): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const content = Buffer.from(body);
  const sending = request(url, {
    method: 'POST',
    headers: { ...headers, 'content-length': String(content.length), connection: 'close' },
    ...(socket === undefined
      ? { lookup: checkedLookup(addresses), agent: false }
      : { createConnection: () => socket, defaultPort: 443 }),
    signal,
  });
  sending.on('error', reject);
  sending.once('response', (answer) => {
    readSome(answer);
    // An answer that never ends has been given all the same.
    resolve(answer.statusCode ?? 0);
  });
  sending.end(content);
  return promise;
}

/** Reads the beginning of an answer, so that the receiver sees no broken connection for an ordinary one. */
function readSome(answer: IncomingMessage): void {
  let received = 0;
  answer.on('data', (chunk: Buffer) => {
    received += chunk.length;
    if (received > MAX_ANSWER_BYTES) answer.destroy();
  });
  answer.on('error', () => undefined);
}

function checkedLookup(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_name, options, callback) => {
    if (options.all === true) return callback(null, all);
    callback(null, all[0]?.address ?? '', all[0]?.family);
  };
}

const TLS_CODES = /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|EPROTO)/;

function toFailure(error: unknown): WebhookFailure {
  const code = (error as { readonly code?: unknown } | null)?.code;
  return typeof code === 'string' && TLS_CODES.test(code) ? 'tls_failed' : 'connection_failed';
}

/** All addresses of a host name, IPv4 and IPv6. Rejects or returns none when it has no address. */
export type ResolveName = (name: string) => Promise<readonly string[]>;

const LOOKUP_MS = 2_000;
const LOOKUP_TRIES = 2;

/** The block from which public IPv6 addresses are assigned (RFC 4291, section 2.4). */
const ASSIGNED_IPV6 = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number];

/** Whether an address is public unicast, so that no machine of the network around this service has it. */
export function isPublicAddress(text: string): boolean {
  if (isIP(text) === 0) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || (address as ipaddr.IPv6).match(...ASSIGNED_IPV6);
}

export function isLoopbackAddress(text: string): boolean {
  return isIP(text) !== 0 && ipaddr.process(text).range() === 'loopback';
}

/** Resolves by DNS only, within some seconds. The hosts file and the search list of this machine are not used. */
export async function resolveByDns(name: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: LOOKUP_MS, tries: LOOKUP_TRIES });
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
}
