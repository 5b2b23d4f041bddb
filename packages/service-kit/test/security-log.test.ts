import { Metadata } from '@grpc/grpc-js';
import { beforeEach, expect, test } from '@jest/globals';
import { HealthDataService } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { eventually } from '@phds/test-kit/conditions';
import { AppError, notFound } from '../src/errors.ts';
import { RpcContext } from '../src/rpc/context.ts';
import { implement } from '../src/rpc/service.ts';
import { createLogger } from '../src/telemetry/log.ts';

const written: string[] = [];
const log = createLogger({
  service: 'health-data',
  destination: { write: (line) => void written.push(line) },
});
const lines = () => written.map((line) => JSON.parse(line));
beforeEach(() => {
  written.length = 0;
});

const metadata = Metadata.fromHttp2Headers({ authorization: 'Bearer token' });
const context = new RpcContext(HealthDataService.method.read, metadata, undefined);

/** Calls an rpc that admits the operator, as this caller. */
function call(verifyCaller: () => Promise<string>, read = async () => ({})) {
  const service = implement(
    HealthDataService,
    { read } as never,
    { read: ['operator'] } as never,
    {} as never,
  );
  return service({ verifyCaller, log }).handlers.get('read')?.({} as never, context);
}

test('calls without a permitted identity leave a few lines without a stack, and a count', async () => {
  const forged = async () => {
    throw new AppError('caller_not_admitted', '', { cause: new Error('signature verification failed') });
  };
  const calls = Array.from({ length: 1_000 }, () => expect(call(forged)).rejects.toThrow());
  await Promise.all(calls);
  const counted = () => lines().reduce((sum, { omitted = 1 }) => sum + omitted, 0);
  await eventually(() => expect(counted()).toBe(1_000));
  // They may take a few seconds of the log.
  expect(written.length).toBeLessThan(100);
  expect(lines()[0]).toMatchObject({
    level: 'error',
    msg: 'rpc failed',
    cause: 'signature verification failed',
  });
  expect(written.join('')).not.toContain('stack');
});

test('acts of the operator are in the security log with their outcome, calls of services are not', async () => {
  const operator = async () => 'operator';
  await call(operator);
  const missing = async () => {
    throw notFound();
  };
  await expect(call(operator, missing)).rejects.toThrow();
  await expect(call(async () => 'gateway')).rejects.toThrow();
  const act = {
    msg: 'security',
    security: 'operator-act',
    route: 'phds.healthdata.v1.HealthDataService/Read',
  };
  expect(lines().filter(({ security }) => security !== undefined)).toMatchObject([
    { ...act, outcome: 'OK' },
    { ...act, outcome: 'NOT_FOUND' },
  ]);
});
