import type { Socket } from 'node:net';
import type { ProxyMode } from './proxy-mode.ts';

/** Takes a chunk, or null for the end of the stream. */
export type Delivery = (chunk: Buffer | null) => void;

interface Held {
  readonly due: number;
  readonly chunk: Buffer | null;
}

// After these, the rest of a chunk is sent in larger pieces: problems at boundaries show in the first ones.
const TINY_PIECES = 64;
const LARGER_PIECE_BYTES = 1_024;

/** Forwards chunks in order, according to the current mode. */
export function createDelivery(from: Socket, to: Socket, mode: () => ProxyMode): Delivery {
  const held: Held[] = [];
  let last = 0;
  const write = (chunk: Buffer | null) => {
    if (to.destroyed || to.writableEnded) return;
    if (chunk === null) to.end();
    else if (!to.write(chunk) && !from.isPaused()) {
      from.pause();
      to.once('drain', () => {
        if (mode().kind !== 'hold') from.resume();
      });
    }
  };
  const release = () => {
    const now = performance.now();
    while (held[0] !== undefined && held[0].due <= now) write(held.shift()?.chunk ?? null);
    const [next] = held;
    if (next !== undefined) setTimeout(release, Math.max(0, next.due - now));
  };
  return (chunk) => {
    const now = mode();
    const delayMs = now.kind === 'delay' ? now.milliseconds : 0;
    // When a delay ends, later chunks still wait for those being held.
    if (delayMs > 0 || held.length > 0) {
      last = Math.max(last, performance.now() + delayMs);
      held.push({ due: last, chunk });
      if (held.length === 1) setTimeout(release, Math.max(0, last - performance.now()));
    } else if (now.kind === 'slice' && chunk !== null) {
      for (const piece of slice(chunk, now.bytes)) write(piece);
    } else write(chunk);
  };
}

/** Splits a chunk into tiny pieces first, then larger ones. */
export function slice(chunk: Buffer, bytes: number): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < chunk.length; ) {
    const size = pieces.length < TINY_PIECES ? bytes : LARGER_PIECE_BYTES;
    pieces.push(chunk.subarray(at, at + size));
    at += size;
  }
  return pieces;
}
