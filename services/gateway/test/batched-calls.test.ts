import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { describe, expect, test } from '@jest/globals';
import {
  IssueTokenRequestSchema,
  IssueTokenResponseSchema,
} from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { AnswerSchema } from '@phds/contracts/phds/common/v1/calls_pb';
import {
  Endpoint,
  type ReadRequest,
  ReadRequestSchema,
  ReadResponseSchema,
  ReadsResponseSchema,
} from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { unavailable } from '@phds/service-kit/errors';
import { ASSERTION_METADATA } from '@phds/service-kit/rpc/context';
import { eventually } from '@phds/test-kit/conditions';
import {
  ClientGone,
  createBatchedReads,
  createTokenCalls,
  type Read,
  type ReadRpcs,
} from '../src/clients/batched-calls.ts';

const HEART = { endpoint: Endpoint.HEALTH_DATA, category: 'heart' };

const searchFor = (parameters: Readonly<Record<string, string>>) => ({
  resourceType: 'Observation',
  id: '',
  parameters: Object.entries(parameters).map(([name, value]) => ({ name, value })),
});

/** health-data, which answers each read with its request id. */
class FakeHealthData {
  /** The request ids of the batches. */
  readonly batches: string[][] = [];
  /** The request ids and assertions of unary calls. */
  readonly alone: [string, unknown][] = [];
  gate: Promise<void> = Promise.resolve();

  readonly rpcs = {
    read: async ({ requestId = '' }: Partial<ReadRequest>, options?: { headers?: object }) => {
      this.alone.push([requestId, options?.headers]);
      return create(ReadResponseSchema, { etag: requestId });
    },
    reads: async ({ calls }: { calls: { request: Uint8Array }[] }) => {
      const ids = calls.map(({ request }) => fromBinary(ReadRequestSchema, request).requestId);
      this.batches.push(ids);
      await this.gate;
      const answers = ids.map((etag) => {
        const value = toBinary(ReadResponseSchema, create(ReadResponseSchema, { etag }));
        return create(AnswerSchema, { result: { case: 'response', value } });
      });
      return create(ReadsResponseSchema, { answers });
    },
  } as unknown as ReadRpcs;

  readonly #read = createBatchedReads(this.rpcs, 20_000);

  read(requestId: string, { request = HEART, ...changes }: Partial<Read> = {}): Promise<string> {
    const read = { assertion: 'a.b.c', clientId: 'app_1', isWanted: () => true, ...changes };
    return this.#read({ ...read, request: { ...request, requestId } }).then(({ etag }) => etag);
  }

  readMany(count: number, prefix: string): Promise<string>[] {
    return Array.from({ length: count }, (_, index) => this.read(`${prefix}${index}`));
  }
}

test.each([
  ['of a deep page', { ...HEART, parameters: { page: { page: 11, pageSize: 20 } } }],
  ['since a date', { ...HEART, parameters: { from: '2026-01-01' } }],
  ['until a date', { ...HEART, parameters: { to: '2026-01-01' } }],
  ['of changes', { ...HEART, parameters: { updatedSince: '2026-01-01T00:00:00Z' } }],
  ['of a summary', { endpoint: Endpoint.AGGREGATIONS }],
  ['of EHR records', { endpoint: Endpoint.EHR }],
  ['of a search that is not a newest one', { fhir: searchFor({ category: 'heart' }) }],
  ['of one resource', { fhir: { ...searchFor({}), id: 'rdg-1' } }],
])('a read %s has a call of its own, with its assertion', async (_, request) => {
  const healthData = new FakeHealthData();
  expect(await healthData.read('r', { request: request as Read['request'] })).toBe('r');
  expect(healthData.batches).toEqual([]);
  expect(healthData.alone).toEqual([['r', { [ASSERTION_METADATA]: 'a.b.c' }]]);
});

describe('reads of newest pages', () => {
  test.each([
    ['without a page', HEART],
    ['on the first large page', { ...HEART, parameters: { page: { page: 1, pageSize: 100 } } }],
    ['on the last of the newest pages', { ...HEART, parameters: { page: { page: 10, pageSize: 20 } } }],
    ['of one type', { ...HEART, parameters: { type: 'Heart Rate' } }],
  ])('%s go in a batch', async (_, request) => {
    const healthData = new FakeHealthData();
    expect(await healthData.read('r', { request: request as Read['request'] })).toBe('r');
    expect(healthData.batches).toEqual([['r']]);
    expect(healthData.alone).toEqual([]);
  });

  test('and newest searches go in the same batch', async () => {
    const healthData = new FakeHealthData();
    const request = { fhir: searchFor({ code: '8867-4' }) } as Read['request'];
    await Promise.all([healthData.read('r'), healthData.read('s', { request, isNewestSearch: true })]);
    expect(healthData.batches).toEqual([['r', 's']]);
  });

  test('leave together with what arrives in the same turn, at most 64, and one batch more for each 64 that wait', async () => {
    const healthData = new FakeHealthData();
    const release = Promise.withResolvers<void>();
    healthData.gate = release.promise;
    const reads = healthData.readMany(300, 'r');
    await eventually(() => healthData.batches.length >= 4);
    expect(healthData.batches[0]).toHaveLength(64);
    release.resolve();
    expect(await Promise.all(reads)).toEqual(reads.map((_, index) => `r${index}`));
  });

  test('that are few wait for the batch in flight', async () => {
    const healthData = new FakeHealthData();
    const release = Promise.withResolvers<void>();
    healthData.gate = release.promise;
    const reads = healthData.readMany(1, 'first');
    await eventually(() => healthData.batches.length === 1);
    reads.push(...healthData.readMany(11, 'few'));
    await new Promise<void>((resolve) => setImmediate(resolve));
    expect(healthData.batches).toHaveLength(1);
    release.resolve();
    await Promise.all(reads);
    expect(healthData.batches.map(({ length }) => length)).toEqual([1, 11]);
  });

  test('are dropped when their client hangs up before they are sent', async () => {
    const healthData = new FakeHealthData();
    const gone = healthData.read('gone', { isWanted: () => false });
    await expect(gone).rejects.toBeInstanceOf(ClientGone);
    const alone = healthData.read('alone', {
      isWanted: () => false,
      request: { ...HEART, parameters: { from: '2026-01-01' } },
    });
    await expect(alone).rejects.toBeInstanceOf(ClientGone);
    expect([healthData.batches, healthData.alone]).toEqual([[], []]);
  });
});

/** The error of a call whose connection ended. */
const LOST = unavailable(Object.assign(new Error('14 UNAVAILABLE'), { code: 14 }));

/** Authorization, whose first answer is lost. */
function createLossy() {
  const grantTypes: string[] = [];
  const issueTokens = async ({ calls }: { calls: { request: Uint8Array }[] }) => {
    for (const { request } of calls)
      grantTypes.push(fromBinary(IssueTokenRequestSchema, request).grantType ?? '');
    if (grantTypes.length === 1) throw LOST;
    const value = toBinary(
      IssueTokenResponseSchema,
      create(IssueTokenResponseSchema, { accessToken: 'again' }),
    );
    return { answers: calls.map(() => create(AnswerSchema, { result: { case: 'response', value } })) };
  };
  return { grantTypes, calls: createTokenCalls({ issueTokens } as never, 20_000) };
}

const CLIENT = { clientId: 'app_1', clientSecret: 's' };

test.each([
  ['a refresh', { grantType: 'refresh_token', refreshToken: 'r', client: CLIENT }],
  ['a userless token', { grantType: 'client_credentials', client: CLIENT }],
])('a request of %s whose connection is lost is sent once more', async (_, request) => {
  const { calls, grantTypes } = createLossy();
  expect(await calls.issueToken({ request })).toMatchObject({ accessToken: 'again' });
  expect(grantTypes).toEqual([request.grantType, request.grantType]);
});

test.each([
  ['a code', { grantType: 'authorization_code', code: 'c', client: CLIENT }],
  ['a DPoP proof', { grantType: 'refresh_token', refreshToken: 'r', dpop: 'p', client: CLIENT }],
  ['a client assertion', { grantType: 'refresh_token', refreshToken: 'r', client: { clientAssertion: 'a' } }],
])('a request with %s that may have been executed is not sent again', async (_, request) => {
  const { calls, grantTypes } = createLossy();
  await expect(calls.issueToken({ request })).rejects.toMatchObject({ reason: 'unavailable' });
  expect(grantTypes).toHaveLength(1);
});
