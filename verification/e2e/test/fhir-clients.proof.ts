import { test } from '@jest/globals';
import { useSharedStack } from '@phds/running-system/shared-stack';
import { expectFhirLife } from '../src/fhir-client-life.ts';
import { FHIR_CLIENTS } from '../src/fhir-clients.ts';

const { fhirclient: _, ...others } = FHIR_CLIENTS;

test.each(Object.entries(others))(
  '%s, unmodified, connects, reads all pages of each type, refreshes, is narrowed and ended',
  async (_name, connect) => expectFhirLife(await useSharedStack(), connect),
);
