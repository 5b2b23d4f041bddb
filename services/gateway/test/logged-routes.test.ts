import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { unavailable } from '@phds/service-kit/errors';
import type { Answers } from './fake-backends.ts';
import { bearer, documentOf, liveToken, startTestGateway, type TestGateway } from './test-gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(async () => gateway[Symbol.asyncDispose]());

const live: Answers = { introspect: () => liveToken() };
const away: Answers = {
  introspect: () => {
    throw unavailable();
  },
};
const NOT_FOUND = { level: 'debug', msg: 'request refused', reason: 'not_found', route: '/api/*' };

test('answered data is logged with the name of its endpoint, never with its path', async () => {
  gateway.backends.answer({ introspect: () => liveToken(), read: () => documentOf({ data: [] }) });
  gateway.log.length = 0;
  await gateway.fetchUnchecked('/api/v1/medications/whispered/adherence', { headers: bearer() });
  expect(gateway.log.join('')).toContain('"msg":"data"');
  expect(gateway.log.join('')).not.toContain('whispered');
});

test.each<[string, string, Answers, object]>([
  ['without an endpoint', '/api/v1/whispered', live, NOT_FOUND],
  ['without an endpoint or an answer', '/api/v1/whispered', away, { level: 'warn', route: '/api/*' }],
  [
    'of an endpoint',
    '/api/v1/medications/whispered/adherence',
    away,
    { level: 'warn', route: '/api/v1/medications/{id}/adherence' },
  ],
])(
  'a refused request under /api %s is logged with the name of its endpoint, never with its path',
  async (_, path, answers, line) => {
    gateway.backends.answer(answers);
    gateway.log.length = 0;
    await gateway.fetch(path, { headers: bearer() });
    expect(gateway.log.map((text) => JSON.parse(text))).toContainEqual(expect.objectContaining(line));
    expect(gateway.log.join('')).not.toContain('whispered');
  },
);
