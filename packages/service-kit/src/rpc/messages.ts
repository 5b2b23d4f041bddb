import {
  create,
  type DescEnum,
  type DescField,
  type DescMessage,
  fromBinary,
  type Message,
  type MessageShape,
  ScalarType,
  toBinary,
} from '@bufbuild/protobuf';
import { type Timestamp, timestampFromDate } from '@bufbuild/protobuf/wkt';
import { ENDPOINTS, type EndpointId } from '@phds/catalog/endpoints';
import { Endpoint } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { invalidRequest } from '../errors.ts';

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

/** How a row has the value of a field: a time as a Date, a member of an enum by its name in lower case, a message as a row. */
type Value<Field> = Field extends Timestamp
  ? Date
  : Field extends Uint8Array | string | boolean
    ? Field
    : Field extends bigint
      ? number
      : Field extends number
        ? 0.5 extends Field // No enum has such a member.
          ? number
          : string
        : Field extends readonly (infer Item)[]
          ? readonly Value<Item>[]
          : Field extends Message
            ? Row<Field>
            : never;

/** What a statement selects for a message, by the names of its fields. NULL is an empty or absent field. */
export type Row<Shape extends Message> = {
  readonly [Name in Exclude<keyof Shape, keyof Message>]: Value<NonNullable<Shape[Name]>> | null | undefined;
};

/** The message with the values of a row. Other columns of the row are ignored. Not for messages with a `oneof`. */
export function toMessage<Desc extends DescMessage>(
  schema: Desc,
  row: Row<MessageShape<Desc>>,
): MessageShape<Desc> {
  const values = row as Readonly<Record<string, unknown>>;
  const message: Record<string, unknown> = create(schema);
  for (const field of schema.fields) {
    const value = values[field.localName];
    if (value !== null && value !== undefined) message[field.localName] = toValue(field, value);
  }
  return message as MessageShape<Desc>;
}

function toValue(field: DescField, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => toValue(field, item));
  if (value instanceof Date) return timestampFromDate(value);
  if (field.enum !== undefined) return toNumber(field.enum, value);
  if (field.message !== undefined) return toMessage(field.message, value as Row<Message>);
  const isLarge = field.scalar === ScalarType.UINT64 || field.scalar === ScalarType.INT64;
  return isLarge ? BigInt(value as number) : value;
}

function toNumber({ typeName, values }: DescEnum, name: unknown): number {
  const member = values.find(({ localName }) => localName.toLowerCase() === name);
  if (member === undefined) throw new TypeError(`${typeName} has no ${name}`);
  return member.number;
}

/** The name in lower case of a member of an enum; null for UNSPECIFIED. Throws `invalid_request`, which names the parameter. */
export function findMember<Name extends string>(
  parameter: string,
  { values }: DescEnum,
  value: number,
): Name | null {
  if (value === 0) return null;
  const [, ...names] = values.map(({ localName }) => localName.toLowerCase());
  const member = values.find(({ number }) => number === value);
  if (member === undefined) throw invalidRequest(parameter, `must be one of ${names.join(', ')}`);
  return member.localName.toLowerCase() as Name;
}
