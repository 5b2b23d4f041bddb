import { createServer, STATUS_CODES } from 'node:http';
import { connect, type Socket } from 'node:net';
import { closeAtOnce, listenOnLoopback } from './loopback.ts';

/** An HTTP proxy on 127.0.0.1 that has one destination, whatever it is asked for. */
export class ConnectProxy implements AsyncDisposable {
  /** What was asked for, as `address:port`, and with which credentials. */
  readonly asked: { readonly authority: string; readonly credentials: string | undefined }[] = [];
  /** The status of the answer to an authority; null for none at all. */
  answer: (authority: string) => number | null = () => 200;
  readonly #sockets = new Set<Socket>();
  readonly #server;
  #port = 0;

  private constructor(destination: number) {
    this.#server = createServer((_request, response) => response.writeHead(405).end());
    this.#server.on('connect', (request, client: Socket) => {
      const authority = request.url ?? '';
      this.asked.push({ authority, credentials: request.headers['proxy-authorization'] });
      this.#keep(client);
      const status = this.answer(authority);
      if (status === null) return;
      if (status !== 200) return void client.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n\r\n`);
      const server = connect(destination, '127.0.0.1', () => client.write('HTTP/1.1 200 OK\r\n\r\n'));
      this.#keep(server);
      client.pipe(server).pipe(client);
    });
  }

  static async start(destination: number): Promise<ConnectProxy> {
    const proxy = new ConnectProxy(destination);
    proxy.#port = await listenOnLoopback(proxy.#server);
    return proxy;
  }

  /** `host:port`. */
  get address(): string {
    return `127.0.0.1:${this.#port}`;
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => socket.destroy()).once('close', () => this.#sockets.delete(socket));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await closeAtOnce(this.#server);
  }
}
