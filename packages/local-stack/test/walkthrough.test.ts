import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { listenOnLoopback } from '@phds/test-kit/loopback';
import { renderWalkthrough } from '../src/walkthrough.ts';

const ANSWERS: Readonly<Record<string, object>> = {
  '/sessions': { token: 'session-of-somebody' },
  '/developer/apps': { data: { clientId: 'app_1', clientSecret: 'phds_cs_1', name: 'Walk-through' } },
  '/oauth/authorize': { approval_uri: 'http://localhost/approve/apr_1', pending_id: 'apr_1' },
  '/partner/consent/pending/apr_1/approve': {
    data: { grantId: 'grt_1', redirectUri: 'http://localhost:9999/callback?code=phds_ac_1&state=xyz' },
  },
  '/oauth/token': { access_token: 'phds_at_1', token_type: 'Bearer' },
};

test('the walk-through passes every answer on to the next request', async () => {
  const seen: string[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    seen.push(`${request.method} ${request.url} ${request.headers.authorization ?? '-'} ${body}`.trim());
    response.end(JSON.stringify(ANSWERS[request.url ?? ''] ?? { data: [] }));
  });
  const url = `http://127.0.0.1:${await listenOnLoopback(server)}`;
  const script = renderWalkthrough({ gatewayUrls: [url], identityProviderUrl: url });
  const { stdout, stderr } = await promisify(execFile)('bash', ['-c', script]);
  server.close();
  expect(stderr).toBe('');
  expect(stdout).toContain('http://localhost/approve/apr_1');
  const session = 'Bearer session-of-somebody';
  const client = '"client_id":"app_1","client_secret":"phds_cs_1"';
  const redirect = '"redirect_uri":"http://localhost:9999/callback"';
  expect(seen.slice(2)).toEqual([
    `POST /developer/apps ${session} {"name":"Walk-through","redirectUris":["http://localhost:9999/callback"]}`,
    `POST /oauth/authorize - {${client},${redirect},"scope":"read:health-data:heart read:profile","state":"xyz"}`,
    `POST /partner/consent/pending/apr_1/approve ${session} {}`,
    `POST /oauth/token - {"grant_type":"authorization_code","code":"phds_ac_1",${client},${redirect}}`,
    'GET /api/v1/health-data/heart?pageSize=2 Bearer phds_at_1',
    'GET /api/v1/profile Bearer phds_at_1',
    `DELETE /partner/consent/grants/grt_1 ${session}`,
    'GET /api/v1/profile Bearer phds_at_1',
  ]);
});
