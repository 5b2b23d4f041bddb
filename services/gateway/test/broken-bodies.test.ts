import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { eventually } from '@phds/test-kit/conditions';
import { bearer, documentOf, liveToken, shareCaller, shareTestGateway } from './test-gateway.ts';

const gateway = shareTestGateway();
const { session } = shareCaller(gateway, 'ada');
afterEach(() => {
  gateway.log.length = 0;
});

// The server may close the connection while the client is still sending.
const ignore = () => undefined;

/** Sends a request, disconnects once it has arrived, and returns what the server sent until the connection closed. */
async function breakOff(head: string, body: string, leave: (socket: Socket) => void): Promise<string> {
  const socket = connect({ port: gateway.port, host: '127.0.0.1', allowHalfOpen: true });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk)).on('error', ignore);
  const closed = new Promise<void>((resolve) => void socket.once('close', () => resolve()));
  await once(socket, 'connect');
  const fields = `Host: x\r\nAuthorization: Bearer ${session()}\r\nContent-Type: application/json\r\n`;
  socket.write(`${head}\r\n${fields}Expect: 100-continue\r\n\r\n`);
  // The interim response shows that the request has arrived.
  await eventually(() => Buffer.concat(chunks).includes('100 Continue'));
  socket.write(body);
  leave(socket);
  socket.once('end', () => socket.end());
  await closed;
  return Buffer.concat(chunks).toString('latin1').replace('HTTP/1.1 100 Continue\r\n\r\n', '');
}

interface Line {
  readonly level: string;
  readonly msg: string;
  readonly reason?: string;
  readonly requestId?: string;
}

/** The lines about requests. On a slow machine, the gateway also logs that it has no stream to a service yet. */
function loggedLines(): Line[] {
  const lines = gateway.log.map((line) => JSON.parse(line) as Line);
  return lines.filter(({ requestId }) => requestId !== undefined);
}

/** Each with another reader of its body: parameters, JSON that is needed, and JSON or a form that is not. */
const ROUTES = [
  'POST /oauth/token',
  'POST /developer/apps',
  'POST /partner/consent/pending/apr_one/approve',
] as const;

describe.each(ROUTES)('a body that is cut off: %s', (route) => {
  const sized = `${route} HTTP/1.1\r\nContent-Length: 100`;

  async function expectDebugLine(): Promise<void> {
    await eventually(() =>
      expect(loggedLines()).toContainEqual(
        expect.objectContaining({ level: 'debug', msg: 'request refused', reason: 'invalid_request' }),
      ),
    );
    expect(loggedLines().filter(({ level }) => level !== 'debug' && level !== 'info')).toEqual([]);
    expect(JSON.stringify(loggedLines())).not.toContain('"stack"');
  }

  test('is logged as invalid_request at debug level when the client resets the connection', async () => {
    await breakOff(sized, '{"name":', (socket) => socket.resetAndDestroy());
    await expectDebugLine();
  });

  test.each([
    ['ends its side of the connection', sized, '{"name":'],
    ['sends a broken chunk', `${route} HTTP/1.1\r\nTransfer-Encoding: chunked`, '4\r\n{"na\r\nnonsense\r\n'],
  ])(
    'is answered as invalid_request in the format of its surface when the client %s',
    async (_, head, body) => {
      const answer = await breakOff(head, body, (socket) => socket.end());
      const [fields = '', text = ''] = answer.split('\r\n\r\n');
      expect(fields).toMatch(/^HTTP\/1.1 400 Bad Request\r\n/);
      expect(JSON.parse(text)).toMatchObject(
        route.includes('/oauth/')
          ? { error: 'invalid_request', error_description: expect.any(String), code: 'INVALID_REQUEST' }
          : { type: '/problems/invalid-request', status: 400, code: 'INVALID_REQUEST' },
      );
      await expectDebugLine();
    },
  );
});

test('a body that is cut off under /api, where bodies are not read, is not an error', async () => {
  gateway.backends.answer({ introspect: () => liveToken(), read: () => documentOf({ data: {} }) });
  const { authorization = '' } = bearer();
  const answers: string[] = [];
  const socket = connect(gateway.port, '127.0.0.1').on('error', ignore);
  socket.on('data', (chunk) => void answers.push(String(chunk)));
  socket.write(
    `GET /api/v1/profile HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nContent-Length: 100\r\n\r\n{"a"`,
  );
  await eventually(() => answers.join('').includes('HTTP/1.1 200 OK'));
  socket.resetAndDestroy();
  await once(socket, 'close');
  expect(loggedLines().filter(({ level }) => level !== 'debug' && level !== 'info')).toEqual([]);
});
