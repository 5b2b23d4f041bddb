import { malformedText } from './malformed-values.ts';
import type { Random } from './random.ts';

/** Malformed HTTP as bytes (latin1). */
export function brokenHttp(random: Random): string {
  return random.of(BROKEN_HTTP)(random);
}

const BROKEN_HTTP: readonly ((random: Random) => string)[] = [
  // Never empty: after empty lines, a server keeps waiting for a request line (RFC 9112, section 2.2).
  (random) => `x${malformedText(random)}\r\n\r\n`,
  () => 'GET / HTTP/9.9\r\nHost: localhost\r\n\r\n',
  () => 'GET / HTTP/1.1\r\n\r\n',
  () => 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n',
  () =>
    'POST /oauth/token HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  () => 'POST /oauth/token HTTP/1.1\r\nHost: a\r\nContent-Length: -5\r\n\r\n',
  () => 'POST /oauth/token HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na',
  () => 'POST /oauth/token HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n',
  () => 'POST /oauth/token HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n',
  () => 'GET / HTTP/1.1\r\nHost: a\r\n folded: b\r\n\r\n',
  () => 'GET / HTTP/1.1\r\nHost: a\r\nX: \u0000\r\n\r\n',
  () => 'GET / HTTP/1.1\r\nHost : a\r\n\r\n',
  (random) => `GET /${'a'.repeat(8_000 + random.below(12_000))} HTTP/1.1\r\nHost: a\r\n\r\n`,
  (random) => `GET / HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(16_000 + random.below(4_000))}\r\n\r\n`,
  () =>
    `GET / HTTP/1.1\r\nHost: a\r\n${Array.from({ length: 3_000 }, (_, n) => `X${n}: 1\r\n`).join('')}\r\n`,
  () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  () => 'CONNECT localhost:1 HTTP/1.1\r\nHost: a\r\n\r\n',
  // The last request of its connection: after an upgrade that it ignores, Node reports no parser errors, so malformed bytes would
  // wait for the idle timeout.
  () => 'GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade, close\r\n\r\n',
  () => 'GET / HTTP/1.1\r\nHost: a\r\nExpect: 200-nothing\r\n\r\n',
  (random) => `${'\u0016\u0003\u0001'}${'\u0080'.repeat(random.below(200))}\r\n\r\n`,
];
