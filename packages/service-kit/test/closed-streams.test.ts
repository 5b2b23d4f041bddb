import '../src/rpc/closed-streams.ts';
import { once } from 'node:events';
import { connect, createServer, type Http2Stream, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';

const EVENTS = ['response', 'data', 'end', 'close', 'wantTrailers', 'aborted'];
const countListeners = (stream: Http2Stream) =>
  EVENTS.reduce((sum, event) => sum + stream.listenerCount(event), 0);

test.each(['answered', 'reset'])('a closed stream that was %s has no listeners left', async (end) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'stream');
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  try {
    const sent = session.request({ ':method': 'POST', ':path': '/' });
    sent.on('response', () => undefined).on('data', () => undefined);
    const told = once(sent, 'close');
    const [received] = (await accepted) as [ServerHttp2Stream];
    received.on('data', () => undefined).on('aborted', () => undefined);
    const toldServer = once(received, 'close');
    expect(countListeners(sent)).toBeGreaterThan(0);
    expect(countListeners(received)).toBeGreaterThan(0);

    if (end === 'answered') {
      received.respond({ ':status': 200 });
      received.end('answer');
      sent.end('question');
    } else sent.close();

    await Promise.all([told, toldServer]);
    expect(countListeners(sent)).toBe(0);
    expect(countListeners(received)).toBe(0);
    // A late error does not end the process.
    expect(sent.emit('error', new Error('late'))).toBe(true);
  } finally {
    session.close();
    server.close();
  }
});
