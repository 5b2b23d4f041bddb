import { expect, test } from '@jest/globals';
import { DATA_PATHS, getEndpoint } from '@phds/catalog/endpoints';
import { SCOPE_NAMES } from '@phds/catalog/scopes';
import { expectStatus, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { useSharedStack } from '@phds/running-system/shared-stack';

const stack = await useSharedStack();
const app = await registerApp(stack.gateway, await signIn(stack, 'developer'));
const { accessToken: token } = await app.connect(await signIn(stack, 'ada'), SCOPE_NAMES);
const medications = expectStatus(200, await app.read(token, '/api/v1/medications')).body.data;
const medicationId = medications[0].id;

// Each answer is compared with the OpenAPI document when it arrives, as those of all tests here.
test.each(DATA_PATHS.map(({ path, endpoint }) => [path, getEndpoint(endpoint)] as const))(
  '%s answers a person with data of every kind, and a list with its pages',
  async (path, { envelope }) => {
    const { body } = expectStatus(200, await app.read(token, path.replace('{id}', medicationId)));
    if (envelope !== 'list') return expect(Object.values(body.data)).not.toEqual([]);
    const { total } = body.pagination;
    expect(total).toBeGreaterThan(0);
    expect(body.pagination).toEqual({ page: 1, pageSize: 20, total, totalPages: Math.ceil(total / 20) });
    expect(body.data).toHaveLength(Math.min(total, 20));
  },
);
