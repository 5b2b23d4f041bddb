import { join, resolve } from 'node:path';
import {
  type Client,
  credentials,
  loadPackageDefinition,
  Metadata,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Harness, startHarness } from './harness.ts';

const protoRoot = resolve(import.meta.dirname, '../../../proto');

let harness: Harness;
let clients: Record<string, Client & Record<string, unknown>>;

// Uses nothing but the .proto files, which are enough to call the service.
beforeAll(async () => {
  harness = await startHarness();
  const files = ['health_data.proto', 'ingestion.proto'].map((name) =>
    join(protoRoot, 'phds/healthdata/v1', name),
  );
  const definition = loadPackageDefinition(
    loadSync(files, { includeDirs: [protoRoot], longs: Number, defaults: true }),
  );
  const { phds } = definition as unknown as {
    phds: {
      healthdata: { v1: Record<string, new (...args: unknown[]) => Client & Record<string, unknown>> };
    };
  };
  clients = Object.fromEntries(
    ['HealthDataService', 'IngestionService'].map((name) => [
      name,
      new phds.healthdata.v1[name]!(`127.0.0.1:${harness.rpcPort}`, credentials.createInsecure()),
    ]),
  );
});
afterAll(async () => {
  for (const client of Object.values(clients)) client.close();
  await harness[Symbol.asyncDispose]();
});

async function call<T>(
  service: string,
  rpc: string,
  request: object,
  headers: Record<string, string>,
): Promise<T> {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  const { promise, resolve: done, reject } = Promise.withResolvers<T>();
  const method = clients[service]?.[rpc] as (...args: unknown[]) => void;
  method.call(
    clients[service],
    request,
    metadata,
    { deadline: Date.now() + 60_000 },
    (error: ServiceError | null, answer: T) => (error === null ? done(answer) : reject(error)),
  );
  return promise;
}

async function bearer(service: string) {
  return { authorization: `Bearer ${await harness.serviceToken(service)}` };
}

describe('a client with only the .proto files', () => {
  test('writes readings and reads them back', async () => {
    const start = { seconds: 1_767_348_000 };
    const readings = [{ type: 'Heart Rate', start, value: 64, source: 'iphone' }];
    const put = await call<{ result: { inserted: number } }>(
      'IngestionService',
      'PutReadings',
      { userId: 'ada', readings },
      await bearer('importer'),
    );
    expect(put.result.inserted).toBe(1);
    const { headers } = await harness.about('ada');
    const { body, total } = await call<{ body: Buffer; etag: string; total: number }>(
      'HealthDataService',
      'Read',
      { endpoint: 'ENDPOINT_HEALTH_DATA', category: 'heart', parameters: { page: { page: 1, pageSize: 5 } } },
      { ...headers, ...(await bearer('gateway')) },
    );
    expect(JSON.parse(body.toString())).toMatchObject({
      data: [{ type: 'Heart Rate', value: 64, timestamp: '2026-01-02T10:00:00.000Z' }],
      pagination: { page: 1, pageSize: 5, total: 1, totalPages: 1 },
    });
    expect(total).toBe(1);
  });

  test('is refused without a service token', async () => {
    const { headers } = await harness.about('ada');
    await expect(
      call('HealthDataService', 'Read', { endpoint: 'ENDPOINT_HEALTH_DATA', category: 'heart' }, headers),
    ).rejects.toMatchObject({
      code: status.PERMISSION_DENIED,
    });
  });

  test('may also use JSON over HTTP', async () => {
    const { headers } = await harness.about('ada');
    const response = await fetch(
      `http://127.0.0.1:${harness.connectPort}/phds.healthdata.v1.HealthDataService/Read`,
      {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers, ...(await bearer('gateway')) },
        body: '{"endpoint":"ENDPOINT_HEALTH_DATA","category":"heart"}',
      },
    );
    expect(response.status).toBe(200);
    const { body } = (await response.json()) as { body: string };
    expect(JSON.parse(Buffer.from(body, 'base64').toString()).pagination.total).toBe(1);
  });
});
