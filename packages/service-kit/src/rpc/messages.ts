import { create, type DescMessage, fromBinary, toBinary } from '@bufbuild/protobuf';
import { ENDPOINTS, type EndpointId } from '@phds/catalog/endpoints';
import { Endpoint } from '@phds/contracts/phds/healthdata/v1/health_data_pb';

/** Stands for bytes that cannot be decoded. grpc-js itself would answer INTERNAL, as if the service had failed. */
export const UNREADABLE = Object.freeze({});

export function decode(schema: DescMessage, bytes: Uint8Array): object {
  try {
    return fromBinary(schema, bytes);
  } catch {
    return UNREADABLE;
  }
}

/** grpc-js requires a Buffer; this creates a view without copying. */
export function encode(schema: DescMessage, message: object): Buffer {
  const bytes = toBinary(schema, create(schema, message as Record<string, unknown>));
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** The proto names endpoints as the catalog does: `health-data` is HEALTH_DATA. */
type MemberOf<Id extends string> = Id extends `${infer Head}-${infer Tail}`
  ? `${Uppercase<Head>}_${MemberOf<Tail>}`
  : Uppercase<Id>;

// Does not compile, and names the endpoint, if the catalog has one that the proto lacks.
const endpoints: Readonly<Record<MemberOf<EndpointId>, Endpoint>> = Endpoint;

/** An endpoint of the catalog as requests to health-data name it. */
export function toReadEndpoint(id: EndpointId): Endpoint {
  return endpoints[id.toUpperCase().replaceAll('-', '_') as MemberOf<EndpointId>];
}

const endpointIds = new Map(ENDPOINTS.map(({ id }) => [toReadEndpoint(id), id]));

/** The endpoint of the catalog; null for none, and for one of a later release. */
export function findEndpointId(endpoint: Endpoint): EndpointId | null {
  return endpointIds.get(endpoint) ?? null;
}
