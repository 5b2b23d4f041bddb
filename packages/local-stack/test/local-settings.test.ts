import { describe, expect, test } from '@jest/globals';
import type { StackDescription } from '../src/data-directory.ts';
import { findLocalSettings } from '../src/phds/local-settings.ts';

const STACK: StackDescription = {
  process: '1',
  startedAt: '2026-03-01T12:00:00.000Z',
  gatewayUrls: [],
  identityProviderUrl: '',
  rpcAddresses: { authorization: 'localhost:1', consent: 'localhost:2', 'health-data': 'localhost:3' },
  probeUrls: { authorization: '', consent: '', 'health-data': '' },
  gatewayProbeUrls: [],
  keys: { directory: '/keys', importerPrivateKey: '/keys/importer.pem', servicePublicKeys: '' },
  logs: '',
};

describe('the settings of a command in a checkout', () => {
  test.each([
    ['import', ['HEALTH_DATA_ADDRESS', 'SERVICE_PRIVATE_KEY_FILE']],
    ['imports', ['HEALTH_DATA_ADDRESS', 'SERVICE_PRIVATE_KEY_FILE']],
    ['generate', ['HEALTH_DATA_ADDRESS', 'SERVICE_PRIVATE_KEY_FILE']],
    ['records', ['RECORDS_DATABASE_URL_FILE', 'RECORDS_PUBLIC_KEYS_FILE']],
    ['reports', ['CONSENT_ADDRESS', 'SERVICE_PRIVATE_KEY_FILE']],
    [
      'erase',
      ['AUTHORIZATION_ADDRESS', 'CONSENT_ADDRESS', 'HEALTH_DATA_ADDRESS', 'SERVICE_PRIVATE_KEY_FILE'],
    ],
    [
      'restore',
      ['AUTHORIZATION_ADDRESS', 'CONSENT_ADDRESS', 'HEALTH_DATA_ADDRESS', 'SERVICE_PRIVATE_KEY_FILE'],
    ],
  ])('%s uses the local stack when nothing is set', (command, names) => {
    expect(Object.keys(findLocalSettings(command, {}, () => STACK) ?? {})).toEqual(names);
    expect(findLocalSettings(command, {}, () => null)).toBeNull();
  });

  test.each([{ HEALTH_DATA_ADDRESS: 'far:7003' }, { SERVICE_PRIVATE_KEY_FILE: 'operator.pem' }])(
    'come from the environment only when it sets any of them: %j',
    (env) => {
      expect(findLocalSettings('erase', env, () => STACK)).toEqual({});
    },
  );

  test('are empty for an unknown command', () => {
    expect(findLocalSettings('nope', {}, () => null)).toEqual({});
  });
});
