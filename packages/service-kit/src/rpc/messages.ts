import { create, type DescMessage, fromBinary, toBinary } from '@bufbuild/protobuf';

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
