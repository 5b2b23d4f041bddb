import { once } from 'node:events';
import { connect } from 'node:net';
import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import type { Stack } from '@phds/local-stack/stack';
import { RPCS } from '@phds/running-system/independent-grpc';
import fc from 'fast-check';
import { openWire, type Wire, type WireAnswer } from '../load/wire.ts';
import { type Credentials, makeMalformedRequests, type Surface } from './malformed-requests.ts';

/** Maximum size of the response to a malformed request, which must not amplify an attack. */
const MOST_BYTES = 16_384;

/** Texts that a response must not contain: parts of stack traces, of SQL and of source files. */
const INTERNALS = /\n\s+at |node_modules|\.ts:\d+|prisma|ECONN|SQLSTATE|pg_|syntax error at/i;

/** The defect of a response to a malformed request; null when there is none. Closing the connection is acceptable. */
export function findFault({ status, head, body, late }: WireAnswer): string | null {
  if (late) return 'hang: a malformed request was not answered';
  if (status === 503) return /\r\nretry-after:/i.test(head) ? null : '503 without Retry-After';
  if (status >= 500) return `${status} for a malformed request`;
  if (status < 400) return null;
  if (body.length > MOST_BYTES) return `an error of ${body.length} bytes`;
  return INTERNALS.test(body) ? `an error reveals internals: ${body.slice(0, 200)}` : null;
}

interface HostileRun {
  readonly surface: Surface;
  readonly gatewayUrls: readonly string[];
  readonly credentials: Credentials;
  /** The number of requests. */
  readonly requests: number;
  /** The same seed produces the same requests. */
  readonly seed: number;
}

/** The result of a run. */
interface HostileReport {
  /** The number of responses by status; `0` is a closed connection. */
  readonly statuses: Readonly<Record<string, number>>;
  /** One sentence for each kind of violation, with the request that showed it. */
  readonly violations: readonly string[];
}

const CLIENTS = 64;
const ANSWER_LIMIT_MS = 10_000;
const SHOWN = 300;

/** Sends malformed requests to the gateways in turn, over at most 64 connections, and checks each response. */
export async function sendMalformedRequests(run: HostileRun): Promise<HostileReport> {
  const { surface, gatewayUrls, credentials } = run;
  const requests = makeMalformedRequests(surface, credentials, run);
  const statuses: Record<string, number> = {};
  const violations = new Map<string, { count: number; readonly request: string }>();
  const wires = gatewayUrls.map((url) => openWire(url, ANSWER_LIMIT_MS));
  let sent = 0;
  const send = async () => {
    // Each client takes the next one.
    for (const request of requests) {
      const wire = wires[sent % wires.length] as Wire;
      sent += 1;
      const answer = await wire.ask(request);
      statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
      const fault = findFault(answer);
      if (fault === null) continue;
      const known = violations.get(fault);
      if (known === undefined) violations.set(fault, { count: 1, request });
      else known.count += 1;
    }
  };
  try {
    await Promise.all(Array.from({ length: CLIENTS }, send));
  } finally {
    for (const wire of wires) wire[Symbol.dispose]();
  }
  const shown = [...violations].map(
    ([fault, { count, request }]) =>
      `${surface}: ${count} times ${fault}, first for ${mask(request, credentials)}`,
  );
  return { statuses, violations: shown };
}

/** Removes the secrets from the request. */
function mask(request: string, { clientSecret, session, accessToken }: Credentials): string {
  const secrets = [clientSecret, session, accessToken];
  const text = secrets.reduce((masked, secret) => masked.replaceAll(secret, '…'), request);
  return JSON.stringify(text.slice(0, SHOWN));
}

/** The result of a run. */
export interface GarbageReport {
  /** The number of responses by gRPC code name. */
  readonly codes: Readonly<Record<string, number>>;
  readonly violations: readonly string[];
}

type Target = Pick<Stack, 'rpcAddresses' | 'serviceTokens'>;
type Service = keyof Stack['rpcAddresses'];

const CALLERS = 16;
const DEADLINE_MS = 10_000;
const SOCKETS = 200;
/** Codes that blame the service or say nothing. Garbage is the caller's fault and must be reported as such. */
const WRONG: readonly number[] = [
  status.UNKNOWN,
  status.INTERNAL,
  status.DEADLINE_EXCEEDED,
  status.DATA_LOSS,
];

// A decoder first meets a known field with a wrong length, or anything.
const garbage = fc
  .tuple(
    fc.constantFrom([0x0a], [0x12], [0x1a], [0x08], [0x0f], []),
    fc.uint8Array({ minLength: 1, maxLength: 20_000 }),
  )
  .map(([field, bytes]) => Buffer.from([...field, ...bytes]));
const garbageCall = fc.record({
  rpc: fc.constantFrom(...RPCS),
  bytes: garbage,
  hasToken: fc.constantFrom(true, true, true, false),
});

/** Calls every rpc with undecodable bytes, with a gateway's token and without one, and sends bytes that are not HTTP/2. */
export async function callWithGarbage(stack: Target, calls: number): Promise<GarbageReport> {
  const codes: Record<string, number> = {};
  const violations = new Set<string>();
  const services = Object.keys(stack.rpcAddresses) as Service[];
  const clients = Object.fromEntries(
    services.map((each) => [each, new Client(stack.rpcAddresses[each], credentials.createInsecure())]),
  ) as Record<Service, Client>;
  const [gateway, importer] = [await stack.serviceTokens('gateway'), await stack.serviceTokens('importer')];
  const waiting = fc.sample(garbageCall, { numRuns: calls, seed: 7 }).values();
  const call = async () => {
    for (const { rpc, bytes, hasToken } of waiting) {
      const { path, service } = rpc;
      // A read without an assertion is a fault of the gateway, so INTERNAL would be the right answer.
      const tokens = path.includes('.HealthDataService/') ? importer : gateway;
      const code = await callOnce(
        clients[service],
        path,
        hasToken ? await tokens(service) : 'garbage',
        bytes,
      );
      codes[status[code] ?? code] = (codes[status[code] ?? code] ?? 0) + 1;
      if (WRONG.includes(code)) violations.add(`${path} answers garbage with ${status[code]}`);
    }
  };
  try {
    await Promise.all(Array.from({ length: CALLERS }, call));
    for (const [index, bytes] of fc.sample(garbage, { numRuns: SOCKETS, seed: 7 }).entries()) {
      await sendBytes(stack.rpcAddresses[services[index % services.length] as Service], bytes);
    }
  } finally {
    for (const client of Object.values(clients)) client.close();
  }
  return { codes, violations: [...violations] };
}

function callOnce(client: Client, path: string, token: string, bytes: Buffer): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const metadata = Metadata.fromHttp2Headers({ authorization: `Bearer ${token}` });
  const options = { deadline: Date.now() + DEADLINE_MS };
  const same = (buffer: Buffer) => buffer;
  client.makeUnaryRequest(path, same, same, bytes, metadata, options, (error: ServiceError | null) =>
    resolve(error?.code ?? status.OK),
  );
  return promise;
}

/** Writes the bytes to a new connection and waits until the server has closed it or accepted them. */
async function sendBytes(address: string, bytes: Buffer): Promise<void> {
  const socket = connect({ port: Number(address.split(':').at(-1)), host: '127.0.0.1' });
  socket.on('error', () => undefined);
  socket.resume();
  const closed = once(socket, 'close');
  socket.end(bytes);
  socket.setTimeout(1_000, () => socket.destroy());
  await closed;
}
