import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  type ChannelCredentials,
  Client,
  credentials,
  Metadata,
  type MethodDefinition,
  type ServiceDefinition,
  type ServiceError,
} from '@grpc/grpc-js';
import { loadSync, type Options } from '@grpc/proto-loader';
import { repositoryRoot } from '@phds/local-stack/data-directory';

type DatabaseService = 'authorization' | 'consent' | 'health-data';

/** The service behind each proto package. */
const PACKAGES: Readonly<Record<string, DatabaseService>> = {
  authorization: 'authorization',
  consent: 'consent',
  healthdata: 'health-data',
};

const PROTOS = join(repositoryRoot, 'proto');
const FILES = readdirSync(PROTOS, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.proto'),
);

const OPTIONS: Options = {
  keepCase: true,
  includeDirs: [PROTOS, import.meta.dirname],
  longs: Number,
  enums: String,
  bytes: Buffer,
  defaults: true,
  arrays: true,
};

type Rpc = MethodDefinition<object, object>;

/** One rpc as the .proto files describe it. */
interface DescribedRpc {
  readonly service: DatabaseService;
  /** `/phds.consent.v1.ConsentService/ListGrants` */
  readonly path: string;
  readonly definition: Rpc;
}

/** The content of a failed call, decoded from `grpc-status-details-bin`. */
interface CallFailure {
  readonly code: number;
  readonly message: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** Every rpc, read from the .proto files without generated code or code of the services. */
export const RPCS: readonly DescribedRpc[] = listRpcs(FILES).map((definition) => ({
  service: PACKAGES[definition.path.split('.')[1] ?? ''] ?? 'consent',
  path: definition.path,
  definition,
}));

const [statusDecoder, detailDecoder] = listRpcs(['error-details.proto'])
  .filter(({ path }) => path.startsWith('/phds.e2e.'))
  .map(({ responseDeserialize }) => responseDeserialize);

function listRpcs(files: string[]): Rpc[] {
  const definitions = Object.values(loadSync(files, OPTIONS));
  const services = definitions.filter((each) => !('format' in each)) as ServiceDefinition[];
  return services.flatMap((service) => Object.values(service)) as Rpc[];
}

/** A gRPC client that needs only the .proto files and an address. */
export class IndependentClient implements Disposable {
  readonly #client: Client;

  constructor(address: string, how: ChannelCredentials = credentials.createInsecure()) {
    this.#client = new Client(address, how);
  }

  /** Calls an rpc by its path. Rejects with a `CallFailure`. */
  call(
    path: string,
    request: object,
    metadata: Readonly<Record<string, string>> = {},
    // biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape, and expect() judges them
  ): Promise<any> {
    const rpc = RPCS.find((each) => each.path === path)?.definition;
    if (rpc === undefined) throw new Error(`no such rpc: ${path}`);
    const { requestSerialize, responseDeserialize } = rpc;
    const { promise, resolve, reject } = Promise.withResolvers<object>();
    const options = { deadline: Date.now() + 60_000 };
    const done = (error: ServiceError | null, response?: object) =>
      error === null ? resolve(response ?? {}) : reject(toFailure(error));
    const fields = Metadata.fromHttp2Headers({ ...metadata });
    this.#client.makeUnaryRequest(
      path,
      requestSerialize,
      responseDeserialize,
      request,
      fields,
      options,
      done,
    );
    return promise;
  }

  [Symbol.dispose](): void {
    this.#client.close();
  }
}

function toFailure(error: ServiceError): CallFailure {
  const failure = { code: error.code, message: error.details, detail: {} };
  const [bytes] = error.metadata.get('grpc-status-details-bin');
  if (!(bytes instanceof Buffer)) return failure;
  const status = statusDecoder?.(bytes) as { details: { type_url: string; value: Buffer }[] };
  const ours = status.details.find(({ type_url }) => type_url.endsWith('/phds.common.v1.ErrorDetail'));
  return ours === undefined ? failure : { ...failure, detail: { ...detailDecoder?.(ours.value) } };
}
