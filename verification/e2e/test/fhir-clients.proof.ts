import { test } from '@jest/globals';
import { useSharedStack } from '@phds/running-system/shared-stack';
import { expectFhirLife } from '../src/fhir-client-life.ts';
import { FHIR_CLIENTS } from '../src/fhir-clients.ts';

const { fhirclient, ...others } = FHIR_CLIENTS;

test('fhirclient, unmodified and without a secret, lives the same life', async () =>
  expectFhirLife(await useSharedStack(), fhirclient, { applicationType: 'public' }));

test.each(Object.entries(others))(
  '%s, unmodified, connects, reads all pages of each type, refreshes, is narrowed and ended',
  async (_name, connect) => expectFhirLife(await useSharedStack(), connect),
);
