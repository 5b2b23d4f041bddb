import { test } from '@jest/globals';
import { useSharedStack } from '@phds/running-system/shared-stack';
import { expectFhirLife } from '../src/fhir-client-life.ts';
import { FHIR_CLIENTS } from '../src/fhir-clients.ts';

// fhir-clients.proof.ts plays the same without a secret, and with the others.
test('fhirclient, unmodified and with a secret, connects, reads all pages of each type, refreshes, is narrowed and ended', async () =>
  expectFhirLife(await useSharedStack(), FHIR_CLIENTS.fhirclient));
