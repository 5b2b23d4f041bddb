import { expect, test } from '@jest/globals';
import { findGivenDeployment } from '@phds/running-system/given-deployment';

const ENV = { E2E_GATEWAY_URL: 'http://localhost:1', E2E_IDENTITY_PROVIDER_URL: 'http://localhost:2' };

test('without its variables there is no given deployment', () => {
  expect(findGivenDeployment({})).toBeNull();
});

test('a given deployment has addresses, and throws for everything that only a local stack has', async () => {
  const stack = findGivenDeployment(ENV);
  expect(stack).toMatchObject({ gateway: 'http://localhost:1', identityProviderUrl: 'http://localhost:2' });
  expect(() => stack?.databases).toThrow('this test needs databases');
  await expect(stack?.[Symbol.asyncDispose]()).resolves.toBeUndefined();
});

test('a gateway without an identity provider is refused', () => {
  expect(() => findGivenDeployment({ E2E_GATEWAY_URL: 'http://localhost:1' })).toThrow(
    'E2E_IDENTITY_PROVIDER_URL',
  );
});
