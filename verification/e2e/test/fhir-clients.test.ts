import { test } from '@jest/globals';
import { useSharedStack } from '@phds/running-system/shared-stack';
import { expectFhirLife } from '../src/fhir-client-life.ts';
import { FHIR_CLIENTS } from '../src/fhir-clients.ts';

// fhir-clients.proof.ts plays the same with the others.
test.each([
  ['with a secret', {}],
  ['without a secret', { applicationType: 'public' as const }],
])(
  'fhirclient, unmodified and %s, connects, reads all pages of each type, refreshes, is narrowed and ended',
  async (_what, settings) => expectFhirLife(await useSharedStack(), FHIR_CLIENTS.fhirclient, settings),
);
