import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { expect, test } from '@jest/globals';
import { startTestGateway, type TestGateway } from './test-gateway.ts';

/** Sends a request over the agent's connection, and returns status and `Connection` of the response. */
async function ask(gateway: TestGateway, agent: Agent, path: string) {
  const sent = request({ host: '127.0.0.1', port: gateway.port, path, agent }).end();
  const [response] = await once(sent, 'response');
  await once(response.resume(), 'end');
  return [response.statusCode, response.headers.connection];
}

test('a gateway that leaves is not ready, answers requests, and asks clients to connect elsewhere', async () => {
  await using gateway = await startTestGateway();
  gateway.backends.answer({ introspect: () => ({}) });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  expect(await ask(gateway, agent, '/readyz')).toEqual([200, 'keep-alive']);
  gateway.service.leave();
  expect(await ask(gateway, agent, '/readyz')).toEqual([503, 'close']);
  expect(await ask(gateway, agent, '/livez')).toEqual([200, 'close']);
  expect(await ask(gateway, agent, '/openapi.json')).toEqual([200, 'close']);
  agent.destroy();
});
