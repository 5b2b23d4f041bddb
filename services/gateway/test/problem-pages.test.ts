import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { PROBLEM_CODES, PROBLEMS, toProblemType } from '@phds/catalog/problems';
import { AppError, type Reason, unauthorized } from '@phds/service-kit/errors';
import { bearer, liveToken, startTestGateway, type TestGateway } from './test-gateway.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(async () => gateway[Symbol.asyncDispose]());
beforeEach(() => gateway.backends.answer({}));

/** Returns a problem document and the page that its `type` points to. */
async function followType(response: Response) {
  const problem = (await response.json()) as { type: string; code: string; status: number };
  const page = await gateway.fetch(problem.type);
  return { problem, status: page.status, type: page.headers.get('content-type'), text: await page.text() };
}

async function expectPageOf(response: Response, code: string): Promise<void> {
  const { problem, status, type, text } = await followType(response);
  expect([problem.code, status, type]).toEqual([code, 200, 'text/html; charset=utf-8']);
  expect(text).toContain(`>${code}</h1>`);
  expect(text).toMatch(new RegExp(`HTTP status [0-9, ]*\\b${problem.status}\\b`));
}

/** Every reason with its code outside of `/oauth`. */
const CODES: Readonly<Record<Reason, string>> = {
  internal: 'INTERNAL_ERROR',
  unavailable: 'INTERNAL_ERROR',
  caller_not_admitted: 'INTERNAL_ERROR',
  unauthorized: 'UNAUTHORIZED',
  token_expired: 'TOKEN_EXPIRED',
  assertion_stale: 'INTERNAL_ERROR',
  insufficient_scope: 'INSUFFICIENT_SCOPE',
  consent_required: 'CONSENT_REQUIRED',
  step_up_required: 'STEP_UP_REQUIRED',
  not_a_developer: 'NOT_A_DEVELOPER',
  invalid_request: 'INVALID_REQUEST',
  not_found: 'NOT_FOUND',
  cursor_expired: 'CURSOR_EXPIRED',
  conflict: 'CONFLICT',
  pending_expired: 'PENDING_EXPIRED',
  already_decided: 'ALREADY_DECIDED',
  app_not_active: 'APP_NOT_ACTIVE',
  no_scopes_approved: 'NO_SCOPES_APPROVED',
  rate_limited: 'RATE_LIMITED',
  access_not_recorded: 'ACCESS_NOT_RECORDED',
  invalid_grant: 'INVALID_GRANT',
  invalid_scope: 'INVALID_SCOPE',
  unsupported_grant_type: 'UNSUPPORTED_GRANT_TYPE',
  unauthorized_client: 'UNAUTHORIZED_CLIENT',
};

describe('the `type` of a problem points to a page about its code and status', () => {
  test.each(Object.entries(CODES))('for the reason %s', async (reason, code) => {
    gateway.backends.answer({
      listApps: () => {
        throw reason === 'unauthorized' ? unauthorized() : new AppError(reason as Reason);
      },
    });
    const session = await gateway.sessions.issueSession('ada');
    await expectPageOf(await gateway.fetchUnchecked('/developer/apps', { headers: bearer(session) }), code);
  });

  test.each<[string, string, RequestInit, string]>([
    ['a 401', '/api/v1/profile', {}, 'UNAUTHORIZED'],
    ['a version that does not exist', '/api/v7/profile', { headers: bearer() }, 'UNSUPPORTED_VERSION'],
    ['an unknown data route', '/api/v1/nothing', { headers: bearer() }, 'NOT_FOUND'],
    ['another method', '/api/v1/profile', { method: 'PUT', headers: bearer() }, 'METHOD_NOT_ALLOWED'],
    ['bad parameters', '/api/v1/profile?x=1', { headers: bearer() }, 'INVALID_REQUEST'],
    ['a page that does not exist', '/problems/nothing', {}, 'NOT_FOUND'],
  ])('for %s', async (_, path, init, code) => {
    gateway.backends.answer({ introspect: () => liveToken() });
    await expectPageOf(await gateway.fetch(path, init), code);
  });
});

describe('GET /problems', () => {
  test('the index links the page of every code', async () => {
    const response = await gateway.fetch('/problems');
    expect(response.status).toBe(200);
    const [, table = ''] = (await response.text()).split('<tbody>');
    const links = [...table.replaceAll('<wbr>', '').matchAll(/href="(\/problems\/[^"]+)">([A-Z_]+)</g)];
    expect(links.map(([, path, code]) => [path, code])).toEqual(
      PROBLEM_CODES.map((code) => [toProblemType(code), code]),
    );
    for (const [, path = ''] of links) expect((await gateway.fetch(path)).status).toBe(200);
  });

  test('a page explains what the code means and what to do, with everything escaped', async () => {
    const text = await (await gateway.fetch(toProblemType('RATE_LIMITED'))).text();
    expect(text).toContain(PROBLEMS.RATE_LIMITED.meaning.split('`')[0]);
    expect(text).toContain('<code>Retry-After</code>');
    expect(text).not.toContain('`');
  });

  test('a page needs no credentials, is cacheable and answers HEAD', async () => {
    const response = await gateway.fetch('/problems/not-found', { method: 'HEAD' });
    expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'public, max-age=300']);
    const posted = await gateway.fetch('/problems/not-found', { method: 'POST' });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });
});

test('the OpenAPI document lists the codes and links their explanations', async () => {
  const { components } = (await (await gateway.fetch('/openapi.json')).json()) as {
    components: { schemas: { Problem: unknown } };
  };
  expect(components.schemas.Problem).toMatchObject({
    properties: { code: { enum: PROBLEM_CODES } },
    externalDocs: { url: '/problems' },
  });
});
