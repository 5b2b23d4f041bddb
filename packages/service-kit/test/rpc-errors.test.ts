import { Metadata } from '@grpc/grpc-js';
import { expect, test } from '@jest/globals';
import { fromGrpcError } from '../src/rpc/errors.ts';

test.each([
  [13, 'Received RST_STREAM with code 2 triggered by internal client error: Session closed', 'unavailable'],
  [13, 'Response message parsing error: index out of range', 'internal'],
  [8, 'Bandwidth exhausted or memory limit exceeded', 'unavailable'],
  [8, 'Received message larger than max (5242971 vs 4194304)', 'internal'],
])('an error without details is classified as lost connection or fault: %d %s', (code, details, reason) => {
  const error = Object.assign(new Error(details), { code, details, metadata: new Metadata() });
  expect(fromGrpcError(error).reason).toBe(reason);
});
