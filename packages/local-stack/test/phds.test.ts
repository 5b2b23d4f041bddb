import { describe, expect, test } from '@jest/globals';
import type { StackDescription } from '../src/data-directory.ts';
import { findLocalSettings } from '../src/phds/local-settings.ts';

const STACK: StackDescription = {
  process: '1',
  gatewayUrl: '',
  rpcAddresses: { authorization: 'localhost:1', consent: 'localhost:2', 'health-data': 'localhost:3' },
  keys: '/keys',
};

describe('the settings of a command in a checkout', () => {
  test.each([
    ['import', ['HEALTH_DATA_ADDRESS', 'SERVICE_PRIVATE_KEY_FILE']],
    [
      'records',
      [
        'CONSENT_ADDRESS',
        'OPERATOR_NAME',
        'SERVICE_PRIVATE_KEY_FILE',
        'RECORDS_DATABASE_URL_FILE',
        'RECORDS_PUBLIC_KEYS_FILE',
      ],
    ],
    ['apps', ['AUTHORIZATION_ADDRESS', 'OPERATOR_NAME', 'SERVICE_PRIVATE_KEY_FILE']],
    ['restore', ['AUTHORIZATION_ADDRESS', 'CONSENT_ADDRESS', 'OPERATOR_NAME', 'SERVICE_PRIVATE_KEY_FILE']],
  ])('%s uses the local stack when nothing is set', (command, names) => {
    expect(Object.keys(findLocalSettings(command, {}, () => STACK) ?? {})).toEqual(names);
    expect(findLocalSettings(command, {}, () => null)).toBeNull();
  });

  test('come from the environment only when it names a deployment', () => {
    const env = { AUTHORIZATION_ADDRESS: 'far:7001', SERVICE_PRIVATE_KEY_FILE: 'operator.pem', TLS_CA: '' };
    expect(findLocalSettings('apps', { ...env, OPERATOR_NAME: 'ada' }, () => STACK)).toEqual({});
    expect(findLocalSettings('apps', { OPERATOR_NAME: 'ada' }, () => STACK)).not.toEqual({});
  });

  test.each([
    ['restore', { CONSENT_ADDRESS: 'far:7002' }, 'AUTHORIZATION_ADDRESS, OPERATOR_NAME, SERVICE_PRIVATE_KEY'],
    // The setting is not one of the command, but names a deployment that the caller may mean.
    ['apps', { CONSENT_ADDRESS: 'far:7002' }, 'AUTHORIZATION_ADDRESS, OPERATOR_NAME, SERVICE_PRIVATE_KEY'],
    ['import', { TLS_CA_FILE: 'ca.pem' }, 'HEALTH_DATA_ADDRESS, SERVICE_PRIVATE_KEY'],
  ])('are refused when the environment names a part of a deployment: %s with %j', (command, env, missing) => {
    const [given] = Object.keys(env);
    expect(() => findLocalSettings(command, env, () => STACK)).toThrow(
      `The environment sets ${given?.replace('_FILE', '')}, so the command works with that deployment and not with the local stack. It also needs ${missing}.`,
    );
  });
});
