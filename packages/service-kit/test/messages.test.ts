import { expect, test } from '@jest/globals';
import { ENDPOINTS } from '@phds/catalog/endpoints';
import { EndpointSchema } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { findEndpointId, toReadEndpoint } from '../src/rpc/messages.ts';

test('the catalog and the proto have the same endpoints, by the same names', () => {
  const named = EndpointSchema.values.filter(({ number }) => number !== 0);
  expect(named.map(({ number }) => findEndpointId(number))).toEqual(ENDPOINTS.map(({ id }) => id));
  for (const { id } of ENDPOINTS) expect(findEndpointId(toReadEndpoint(id))).toBe(id);
});

test('a number that names no endpoint leads to none', () => {
  expect([0, -1, 999].map(findEndpointId)).toEqual([null, null, null]);
});
