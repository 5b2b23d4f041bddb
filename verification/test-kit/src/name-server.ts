import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** A name server for one test: it answers the IPv4 addresses that the test lists, like the headless service of a cluster. */
export interface NameServer extends AsyncDisposable {
  /** A gRPC address whose name this server resolves: `dns://127.0.0.1:<port>/<name>:<rpcPort>`. */
  toAddress(name: string, rpcPort: number): string;
  /** Sets the addresses of a name. */
  set(name: string, addresses: readonly string[]): void;
}

const TYPE_A = 1;
const HEADER_BYTES = 12;
const NO_SUCH_NAME = 3;

/** Starts it on a free port of 127.0.0.1. */
export async function startNameServer(): Promise<NameServer> {
  const names = new Map<string, readonly string[]>();
  const socket = createSocket('udp4');
  socket.on('message', (query, { address, port }) => socket.send(toResponse(query, names), port, address));
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    toAddress: (name, rpcPort) => `dns://127.0.0.1:${socket.address().port}/${name}:${rpcPort}`,
    set: (name, addresses) => void names.set(name, addresses),
    [Symbol.asyncDispose]: async () => {
      socket.close();
      await once(socket, 'close');
    },
  };
}

/** The response to a query with one question (RFC 1035 4.1). */
function toResponse(query: Buffer, names: ReadonlyMap<string, readonly string[]>): Buffer {
  const { name, type, end } = readQuestion(query);
  const known = names.get(name);
  const addresses = type === TYPE_A ? (known ?? []) : [];
  const header = Buffer.alloc(HEADER_BYTES);
  query.copy(header, 0, 0, 2);
  header.writeUInt16BE(0x8400 | (known === undefined ? NO_SUCH_NAME : 0), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(addresses.length, 6);
  return Buffer.concat([header, query.subarray(HEADER_BYTES, end), ...addresses.map(toRecord)]);
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

/** An A record with no time to live, for the name in the question. */
function toRecord(address: string): Buffer {
  const pointerToQuestion = [0xc0, HEADER_BYTES];
  return Buffer.from([
    ...pointerToQuestion,
    0,
    TYPE_A,
    0,
    1,
    0,
    0,
    0,
    0,
    0,
    4,
    ...address.split('.').map(Number),
  ]);
}
