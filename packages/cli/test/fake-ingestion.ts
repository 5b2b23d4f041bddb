import {
  ImportState,
  IngestionService,
  type PutHealthRecordsRequest,
  type PutProfileRequest,
  type PutReadingsRequest,
  type ReportImportRequest,
  type StartImportRequest,
} from '@phds/contracts/phds/healthdata/v1/ingestion_pb';
import { AppError } from '@phds/service-kit/errors';
import { startRpcServer } from '@phds/service-kit/rpc/server';
import { implement, type UnaryRpcs } from '@phds/service-kit/rpc/service';
import { createLogger } from '@phds/service-kit/telemetry/log';
import { createServiceTokenVerifier } from '@phds/service-kit/trust/callers';
import { createServiceKeys } from '@phds/test-kit/service-keys';

/** Converts protobuf messages to comparable text; JSON cannot represent their 64-bit integers. */
function createMessageText(message: unknown): string {
  return JSON.stringify(message, (_name, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
}

/** An ingestion service in memory, on a real port, with natural keys and refusals like the real one, and failures on demand. */
export interface FakeIngestion extends AsyncDisposable {
  /** Environment variables for the command to reach it. */
  readonly env: NodeJS.ProcessEnv;
  readonly readings: Map<string, PutReadingsRequest['readings'][number]>;
  readonly records: Map<string, PutHealthRecordsRequest['records'][number]>;
  readonly profiles: PutProfileRequest[];
  /** By user, format and digest. */
  readonly imports: Map<string, FakeImport>;
  /** Sizes of the answered batches. */
  readonly batchSizes: number[];
  /** Number of calls that will still fail with `unavailable`. */
  failures: number;
  /** Maximum number of concurrent calls so far. */
  mostAtOnce: number;
  /** A batch of readings is answered once this many have arrived. Default 1. */
  gather: number;
  /** The person's zone. */
  timeZone: string;
  /** Readings with this value are refused. */
  refusedValue: number | null;
}

/** The state of an import in the service. */
interface FakeImport {
  readonly format: string;
  readonly digest: string;
  readonly size: bigint;
  run: number;
  position: bigint;
  report: string;
  state: ImportState;
}

export async function startFakeIngestion(): Promise<FakeIngestion> {
  const keys = createServiceKeys(['service:importer']);
  let running = 0;
  const gathered = Promise.withResolvers<void>();
  const attend = async <Answer>(answer: () => Answer, { alone = true } = {}): Promise<Answer> => {
    running += 1;
    fake.mostAtOnce = Math.max(fake.mostAtOnce, running);
    if (running >= fake.gather) gathered.resolve();
    if (!alone) await gathered.promise;
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    if (fake.failures > 0) {
      fake.failures -= 1;
      throw new AppError('unavailable', 'Temporarily unavailable.');
    }
    return answer();
  };
  const rpcs: Partial<UnaryRpcs<typeof IngestionService>> = {
    putReadings: (request) =>
      attend(() => putReadings(requireImport(fake, request), request), { alone: false }),
    putHealthRecords: (request) => attend(() => putHealthRecords(requireImport(fake, request), request)),
    putProfile: (request) =>
      attend(() => {
        requireImport(fake, request);
        fake.profiles.push(request);
        return {};
      }),
    startImport: (request) => attend(() => startImport(fake, request)),
    reportImport: (request) => attend(() => reportImport(fake, request)),
    listImports: () => attend(() => ({ imports: [...fake.imports.values()], timeZone: fake.timeZone })),
  };
  const admitted = Object.fromEntries(Object.keys(rpcs).map((rpc) => [rpc, ['service:importer']]));
  const server = await startRpcServer({
    services: [implement(IngestionService, rpcs as never, admitted as never)],
    verifyCaller: createServiceTokenVerifier({
      service: 'health-data',
      publicKeys: keys.jwks,
    }),
    log: createLogger({ service: 'health-data', level: 'silent' }),
    host: '127.0.0.1',
    rpcPort: 0,
    probePort: null,
    health: async () => true,
  });
  const fake: FakeIngestion = {
    env: {
      HEALTH_DATA_ADDRESS: `127.0.0.1:${server.rpcPort}`,
      SERVICE_PRIVATE_KEY: keys.pem('service:importer'),
    },
    readings: new Map(),
    records: new Map(),
    profiles: [],
    imports: new Map(),
    batchSizes: [],
    failures: 0,
    mostAtOnce: 0,
    gather: 1,
    timeZone: '',
    refusedValue: null,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
  return fake;
}

/** Like the service, items of an import require that the import exists. */
function requireImport(
  fake: FakeIngestion,
  request: PutReadingsRequest | PutHealthRecordsRequest | PutProfileRequest,
): FakeIngestion {
  const name = request.import;
  const key = name === undefined ? null : createMessageText([request.userId, name.format, name.digest]);
  if (key !== null && !fake.imports.has(key)) throw new AppError('not_found');
  return fake;
}

function startImport(fake: FakeIngestion, { userId, format, digest, size, again }: StartImportRequest) {
  const key = createMessageText([userId, format, digest]);
  const known = fake.imports.get(key) ?? { format, digest, size, run: 0, state: ImportState.FINISHED };
  const anew = { run: known.run + 1, position: 0n, report: '' };
  const begun = {
    ...known,
    ...(again || known.state === ImportState.FINISHED ? anew : {}),
    state: ImportState.RUNNING,
  } as FakeImport;
  fake.imports.set(key, begun);
  return { run: begun.run, position: begun.position, report: begun.report, timeZone: fake.timeZone };
}

function reportImport(fake: FakeIngestion, { userId, format, digest, ...progress }: ReportImportRequest) {
  const known = fake.imports.get(createMessageText([userId, format, digest]));
  if (known === undefined) throw new AppError('not_found');
  const { run, position, report, state } = progress;
  const counts = run === known.run && known.state !== ImportState.FINISHED;
  if (counts && (state === ImportState.FINISHED || position >= known.position))
    Object.assign(known, { position, report, state });
  return {};
}

function putReadings(fake: FakeIngestion, { userId, readings }: PutReadingsRequest) {
  fake.batchSizes.push(readings.length);
  const refusals: { index: number; reason: string }[] = [];
  const accepted: [key: string, reading: (typeof readings)[number]][] = [];
  for (const [index, reading] of readings.entries()) {
    if (reading.value === fake.refusedValue)
      refusals.push({ index, reason: 'value is outside the plausible range' });
    else {
      const { type, start, end, source } = reading;
      const key = createMessageText([userId, type, start, end ?? start, source]);
      accepted.push([key, reading]);
    }
  }
  return { result: { ...storeAll(fake.readings, accepted), refusals } };
}

function putHealthRecords(fake: FakeIngestion, { userId, records }: PutHealthRecordsRequest) {
  fake.batchSizes.push(records.length);
  const keyed = records.map((record): [string, typeof record] => {
    return [createMessageText([userId, record.record.case, record.source, record.key]), record];
  });
  return { result: { ...storeAll(fake.records, keyed), refusals: [] } };
}

/** Stores the last item of each key; the ones before it count as unchanged. */
function storeAll<Item>(items: Map<string, Item>, batch: readonly (readonly [string, Item])[]) {
  const latest = new Map(batch);
  const counts = { inserted: 0, updated: 0, unchanged: batch.length - latest.size };
  for (const [key, item] of latest) counts[store(items, key, item)] += 1;
  return counts;
}

function store<Item>(items: Map<string, Item>, key: string, item: Item) {
  const known = items.get(key);
  items.set(key, item);
  if (known === undefined) return 'inserted';
  return createMessageText(known) === createMessageText(item) ? 'unchanged' : 'updated';
}
