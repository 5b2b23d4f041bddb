import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listenOnLoopback } from '@phds/test-kit/loopback';

/** An HTTP proxy in front of a gateway that counts requests and can lose answers. */
export interface LosingProxy extends AsyncDisposable {
  readonly url: string;
  /** Every forwarded request as `METHOD /path`, in order. */
  readonly requests: string[];
  /** Closes the connection in place of the next answer to this request, after the gateway has answered completely. */
  loseAnswerTo(line: string): void;
  /** The number of answers that are still to be lost. */
  readonly toLose: number;
}

export async function startLosingProxy(gateway: string): Promise<LosingProxy> {
  const requests: string[] = [];
  const toLose: string[] = [];
  const server = createServer((incoming, outgoing) => {
    const line = `${incoming.method} ${incoming.url?.split('?')[0]}`;
    requests.push(line);
    const at = toLose.indexOf(line);
    if (at >= 0) toLose.splice(at, 1);
    forward(gateway, incoming, outgoing, at >= 0);
  });
  const port = await listenOnLoopback(server);
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    loseAnswerTo: (line) => void toLose.push(line),
    get toLose() {
      return toLose.length;
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function forward(
  gateway: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  isLost: boolean,
): void {
  const { method, headers } = incoming;
  const forwarded = request(new URL(incoming.url ?? '/', gateway), { method, headers });
  forwarded.on('response', async (answer) => {
    const body = await buffer(answer);
    if (isLost) return outgoing.destroy();
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers).end(body);
  });
  forwarded.on('error', () => outgoing.destroy());
  incoming.pipe(forwarded);
}
