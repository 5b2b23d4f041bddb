import type { Editor } from './tcp-proxy.ts';

/** What happens to the messages that Redis sends to its subscribers. */
export type MessageMode = 'pass' | 'swallow' | 'duplicate';

/** Changes published messages and nothing else: subscribers stay connected, and every other command works. */
export interface PublishedMessageFault {
  mode: MessageMode;
  /** Number of messages dropped or duplicated so far. */
  readonly touched: number;
  /** For a proxy in front of Redis: the editor of one connection. */
  edit(): Editor;
}

// Redis's answer to SUBSCRIBE, in both protocol versions. After it, the connection carries published messages only.
const SUBSCRIBED = '$9\r\nsubscribe\r\n';
const MESSAGE = '$7\r\nmessage\r\n';

/** Creates a fault that forwards every message until `mode` is changed. */
export function createPublishedMessageFault(): PublishedMessageFault {
  let touched = 0;
  const fault: PublishedMessageFault = {
    mode: 'pass',
    get touched() {
      return touched;
    },
    edit() {
      let subscribed = false;
      return (chunk) => {
        const wasSubscribed = subscribed;
        subscribed ||= chunk.includes(SUBSCRIBED);
        if (!wasSubscribed || fault.mode === 'pass') return [chunk];
        const messages = chunk.toString('latin1').split(MESSAGE).length - 1;
        if (fault.mode === 'swallow') {
          touched += messages;
          return [];
        }
        // Only complete messages can be duplicated; a small one arrives in one chunk.
        if (!isWhole(chunk)) return [chunk];
        touched += messages;
        return [chunk, chunk];
      };
    },
  };
  return fault;
}

function isWhole(chunk: Buffer): boolean {
  const first = String.fromCharCode(chunk[0] ?? 0);
  return (first === '*' || first === '>') && chunk.subarray(-2).toString() === '\r\n';
}
