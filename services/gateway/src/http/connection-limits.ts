import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Requests that may wait on a connection behind the one that is being answered. */
const MAX_WAITING = 7;
const CHECK_INTERVAL_MS = 1_000;

/** Requests that wait behind another, by connection. */
const waiting = new WeakMap<Socket, number>();

/**
 * Disconnects a client that has sent more requests than a connection may have without an answer. Returns whether it is disconnected. It
 * gets no answer, because answers and requests that wait for a slow reader are the memory that it would take.
 */
export function disconnectPipelining({ socket }: IncomingMessage, response: ServerResponse): boolean {
  if (socket.destroyed) return true;
  // A response that waits behind another has no connection yet. Requests one at a time therefore cost nothing here.
  if (response.socket !== null) return false;
  const count = waiting.get(socket) ?? 0;
  if (count >= MAX_WAITING) {
    disconnect(socket);
    return true;
  }
  waiting.set(socket, count + 1);
  response.once('close', () => waiting.set(socket, (waiting.get(socket) ?? 1) - 1));
  return false;
}

/** A connection with Node's parser. What `onIncoming` returns tells the parser what follows the request; 2 means that no HTTP follows, as after an upgrade. */
type HttpSocket = Socket & { readonly parser?: { onIncoming: () => number } | null };

/**
 * Node would go on to parse what it has received already, up to 64 KB, and keep thousands of requests of each such connection until the end
 * of the turn. There is no public way to stop it.
 */
function disconnect(socket: HttpSocket): void {
  if (socket.parser) socket.parser.onIncoming = () => 2;
  socket.destroy();
}

export interface ReadingPace {
  /** A slow beginning is allowed for this long. */
  readonly graceMs: number;
  readonly bytesPerSecond: number;
}

/** An uninterrupted wait for a reader. */
interface Wait {
  readonly since: number;
  /** How much the system had taken of the connection's output when the wait began. */
  readonly taken: number;
}

/**
 * Disconnects readers that take their answers more slowly than the pace, on average since output began to wait for them. The timeout of
 * the server only finds those that take nothing.
 */
export function disconnectSlowReaders(server: Server, { graceMs, bytesPerSecond }: ReadingPace): void {
  const connections = new Set<Socket>();
  const waits = new WeakMap<Socket, Wait>();
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  const check = (now: number) => {
    for (const socket of connections) {
      const wait = waits.get(socket);
      if (socket.writableLength === 0) waits.delete(socket);
      // Counts the waiting bytes, too.
      else if (wait === undefined) {
        waits.set(socket, { since: now, taken: socket.bytesWritten - socket.writableLength });
      } else {
        // One large chunk counts as waiting until all of it is taken, so it is given the time that it may need.
        const allowedMs = graceMs + ((socket.bytesWritten - wait.taken) / bytesPerSecond) * 1000;
        if (now - wait.since > allowedMs) socket.destroy();
      }
    }
  };
  const interval = setInterval(() => check(performance.now()), CHECK_INTERVAL_MS).unref();
  server.once('close', () => clearInterval(interval));
}
