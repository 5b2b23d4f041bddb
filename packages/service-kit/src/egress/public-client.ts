import { Resolver } from 'node:dns/promises';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest, type RequestOptions } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';
import ipaddr from 'ipaddr.js';

/** For name, connection, TLS, request and answer together. */
const ATTEMPT_MS = 10_000;
/** More of an answer is not read where only its status counts. */
const MAX_IGNORED_BYTES = 1_024;

/** An HTTP proxy, with its user name and password in the URL if it asks for them. */
interface EgressProxy {
  readonly url: URL;
  /** Receives why the proxy serves nobody: it cannot be reached, refuses the credentials, or is none. Contains no credentials. */
  readonly onFailure: (error: unknown) => void;
}

export interface PublicClientOptions {
  /** Default: by DNS. */
  readonly resolve?: ResolveName;
  /** For the local stack: loopback addresses, and http to them. */
  readonly allowLoopback?: boolean;
  /** For hosts that an operator names: every address, and http to them. */
  readonly allowPrivate?: boolean;
  readonly attemptMs?: number;
  /** Every https request goes through it. Default: none. */
  readonly proxy?: EgressProxy | undefined;
}

/** Why a request was not answered as wanted. With `status` and `redirected`, it was answered with that HTTP status. */
export type EgressFailure =
  | 'status'
  | 'redirected'
  | 'timed_out'
  | 'name_not_resolved'
  | 'address_not_allowed'
  | 'tls_failed'
  | 'connection_failed';

interface EgressAnswer {
  /** Null without an answer. */
  readonly status: number | null;
  /** Null for a status of 200 to 299. */
  readonly failure: EgressFailure | null;
}

/** An answer with what it contains, null if that is longer than wanted. Both are empty after a failure. */
interface EgressContent extends EgressAnswer {
  readonly contentType: string;
  readonly body: string | null;
}

interface EgressRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Requests to hosts that others name. No request rejects, unless the signal is aborted. Each takes a limited time. */
interface PublicClient {
  /** Whether a URL may be requested, as far as it tells: an address must be public. */
  mayRequest(url: string): boolean;
  post(request: EgressRequest, signal: AbortSignal): Promise<EgressAnswer>;
  get(
    request: Omit<EgressRequest, 'body'> & { readonly maxBytes: number },
    signal: AbortSignal,
  ): Promise<EgressContent>;
}

/**
 * Requests public addresses only, unless the options allow others. All addresses of the host have to be public, and the connection goes to one of those that were checked, so
 * a name that resolves otherwise the next time changes nothing. A proxy is told the address, not the name, so that it resolves nothing.
 * Redirects are not followed.
 */
export function createPublicClient(options: PublicClientOptions): PublicClient {
  const { allowLoopback = false, allowPrivate = false, attemptMs = ATTEMPT_MS } = options;
  const isAllowed = (address: string) =>
    allowPrivate || isPublicAddress(address) || (allowLoopback && isLoopbackAddress(address));
  async function call(request: Outgoing, signal: AbortSignal): Promise<EgressContent> {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(attemptMs)]);
    const answer = await untilAborted(attempt(request, options, isAllowed, limit), limit).catch(
      (error: unknown) => unanswered(limit.aborted ? 'timed_out' : toFailure(error)),
    );
    signal.throwIfAborted();
    return answer;
  }
  return {
    mayRequest(text) {
      const url = new URL(text);
      const host = hostOf(url);
      return (url.protocol === 'https:' || allowLoopback) && (isIP(host) === 0 || isAllowed(host));
    },
    async post({ url, headers, body }, signal) {
      const { status, failure } = await call({ url, headers, body, maxBytes: null }, signal);
      return { status, failure };
    },
    get: (request, signal) => call({ ...request, body: null }, signal),
  };
}

interface Outgoing extends Omit<EgressRequest, 'body'> {
  /** What is posted; null for a GET. */
  readonly body: string | null;
  /** Of the answer that is wanted; null if only its status counts. */
  readonly maxBytes: number | null;
}

function unanswered(failure: EgressFailure): EgressContent {
  return { status: null, failure, contentType: '', body: '' };
}

async function attempt(
  request: Outgoing,
  {
    resolve = resolveByDns,
    allowLoopback = false,
    allowPrivate = false,
    attemptMs = ATTEMPT_MS,
    proxy,
  }: PublicClientOptions,
  isAllowed: (address: string) => boolean,
  limit: AbortSignal,
): Promise<EgressContent> {
  const url = new URL(request.url);
  const addresses = await addressesOf(hostOf(url), resolve, allowLoopback);
  if (addresses.length === 0) return unanswered('name_not_resolved');
  if (!addresses.every(isAllowed)) return unanswered('address_not_allowed');
  // Without TLS nobody would know who is asked.
  if (url.protocol !== 'https:' && !allowPrivate && !addresses.every(isLoopbackAddress)) {
    return unanswered('address_not_allowed');
  }
  if (proxy !== undefined && url.protocol === 'https:') {
    // The timeout limits the proxy's answer, which the signal does not end.
    return sendThrough(proxy, url, request, addresses, { timeout: attemptMs, signal: limit });
  }
  return send(url, request, { lookup: checkedLookup(addresses), agent: false, signal: limit });
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

/** Tells errors of the proxy from those of the destination. */
class ProxyAgent extends Agent {
  /** Whether the proxy opened the last tunnel, so that errors come from the destination. */
  isOpen = false;

  override createConnection(
    options: RequestOptions,
    callback?: (error: Error | null, socket: Duplex) => void,
  ): Duplex | null | undefined {
    const toProxy = super.createConnection(options, (error, socket) => {
      this.isOpen = socket !== toProxy;
      callback?.(error, socket);
    });
    return toProxy;
  }
}

/**
 * Has the proxy connect to one of the addresses; the certificate is checked for the name. A refusal is about the destination, so the
 * next address is tried. 407 refuses the credentials; any other failure has no status and ends the attempt as well.
 */
async function sendThrough(
  proxy: EgressProxy,
  url: URL,
  request: Outgoing,
  addresses: readonly string[],
  limits: { readonly timeout: number; readonly signal: AbortSignal },
): Promise<EgressContent> {
  const name = isIP(hostOf(url)) === 0 ? { servername: url.hostname } : {};
  const agent = new ProxyAgent({ proxyEnv: { HTTPS_PROXY: proxy.url.href } });
  let last: unknown;
  for (const hostname of addresses) {
    try {
      return await send(url, request, { hostname, ...name, agent, ...limits });
    } catch (error) {
      last = error;
      if (limits.signal.aborted) break;
      // Absent without an answer, NaN if it is not HTTP.
      const status = (error as { readonly statusCode?: number }).statusCode || 407;
      if (status !== 407) continue;
      if (!agent.isOpen) proxy.onFailure(error);
      break;
    }
  }
  throw last;
}

type Way = Pick<RequestOptions, 'hostname' | 'servername' | 'lookup' | 'agent' | 'timeout' | 'signal'>;

function send(url: URL, { headers, body, maxBytes }: Outgoing, way: Way): Promise<EgressContent> {
  const { promise, resolve, reject } = Promise.withResolvers<EgressContent>();
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const sending = request(url, {
    method: body === null ? 'GET' : 'POST',
    headers: { ...headers, host: url.host, connection: 'close' },
    ...way,
  });
  sending.on('error', reject);
  sending.once('response', (answer) => {
    const { statusCode: status = 0, headers: fields } = answer;
    const answered = { status, failure: findStatusFailure(status), contentType: '', body: '' };
    const reading = readSome(answer, maxBytes ?? MAX_IGNORED_BYTES);
    if (maxBytes !== null && answered.failure === null) {
      const contentType = fields['content-type'] ?? '';
      reading.then((text) => resolve({ ...answered, contentType, body: text }), reject);
      return;
    }
    // An answer that never ends has been given all the same. Its beginning is read so that the other side sees no broken connection.
    reading.catch(() => undefined);
    resolve(answered);
  });
  sending.end(body ?? undefined);
  return promise;
}

function findStatusFailure(status: number): EgressFailure | null {
  if (status >= 200 && status < 300) return null;
  return status >= 300 && status < 400 ? 'redirected' : 'status';
}

/** The text of an answer, null if it is longer. More is not read. */
async function readSome(answer: IncomingMessage, maxBytes: number): Promise<string | null> {
  const chunks: Buffer[] = [];
  let received = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    received += chunk.length;
    if (received > maxBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** Connects to one of the addresses, whatever the name resolves to by now. */
function checkedLookup(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_name, options, callback) => {
    if (options.all === true) return callback(null, all);
    callback(null, all[0]?.address ?? '', all[0]?.family);
  };
}

const TLS_CODES = /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|EPROTO)/;

function toFailure(error: unknown): EgressFailure {
  const code = (error as { readonly code?: unknown } | null)?.code;
  return typeof code === 'string' && TLS_CODES.test(code) ? 'tls_failed' : 'connection_failed';
}

/** All addresses of a host name, IPv4 and IPv6. Rejects or returns none when it has no address. */
type ResolveName = (name: string) => Promise<readonly string[]>;

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

function isLoopbackAddress(text: string): boolean {
  return isIP(text) !== 0 && ipaddr.process(text).range() === 'loopback';
}

/** Resolves by DNS only, within some seconds. The hosts file and the search list of this machine are not used. */
async function resolveByDns(name: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: LOOKUP_MS, tries: LOOKUP_TRIES });
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
}
