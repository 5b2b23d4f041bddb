import type { EndpointId } from '@phds/catalog/endpoints';
import { toReadEndpoint } from '@phds/service-kit/wire-enums';
import { bodyOf, type Harness } from './harness.ts';

/** Reads one resource of a user and returns the body. */
export async function read(
  harness: Harness,
  endpoint: EndpointId,
  userId: string,
  parameters: object = {},
  dataFrom: string | null = null,
) {
  const request = { endpoint: toReadEndpoint(endpoint), parameters };
  return bodyOf(await harness.reads.read(request, await harness.about(userId, { dataFrom })));
}
