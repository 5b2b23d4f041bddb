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

/** Converts between our names and an enum of a proto. */
export function createWireEnum<Name extends string, Value extends number>(
  values: Readonly<Record<Name, Value>>,
) {
  const names = new Map(Object.entries<Value>(values).map(([name, value]) => [value, name as Name]));
  return {
    toMessage: (name: Name): Value => values[name],
    /** The name; null for none, and for a value of a later release. */
    find: (value: Value): Name | null => names.get(value) ?? null,
  };
}

/** The proto names endpoints as the catalog does: `health-data` is HEALTH_DATA. */
type MemberOf<Id extends string> = Id extends `${infer Head}-${infer Tail}`
  ? `${Uppercase<Head>}_${MemberOf<Tail>}`
  : Uppercase<Id>;

function memberOf(id: EndpointId): MemberOf<EndpointId> {
  return id.toUpperCase().replaceAll('-', '_') as MemberOf<EndpointId>;
}

// Does not compile, and names the endpoint, if the catalog has one that the proto lacks.
const endpoints: Readonly<Record<MemberOf<EndpointId>, Endpoint>> = Endpoint;

/** An endpoint of the catalog as requests to health-data name it. */
export const { toMessage: toReadEndpoint, find: findEndpointId } = createWireEnum(
  Object.fromEntries(ENDPOINTS.map(({ id }) => [id, endpoints[memberOf(id)]])) as Record<
    EndpointId,
    Endpoint
  >,
);
