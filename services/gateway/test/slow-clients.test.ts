import { connect } from 'node:net';
import { expect, test } from '@jest/globals';
import { eventually } from '@phds/test-kit/conditions';
import { startTestGateway } from './test-gateway.ts';

test('a client that sends many requests and reads no responses is disconnected', async () => {
  await using gateway = await startTestGateway({ STALLED_CONNECTION_MS: '200' });
  const socket = connect(gateway.port, '127.0.0.1');
  let isOver = false;
  socket.on('error', () => {
    isOver = true;
  });
  // More than the system's buffers hold.
  for (let request = 0; request < 400; request += 1) {
    socket.write('GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n');
  }
  await eventually(() => {
    socket.write('\r\n');
    expect(isOver).toBe(true);
  });
  socket.destroy();
});
