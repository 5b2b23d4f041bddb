import {
  create,
  type DescMessage,
  type DescMethodBiDiStreaming,
  fromBinary,
  type Message,
  toBinary,
} from '@bufbuild/protobuf';
import type { GenMessage } from '@bufbuild/protobuf/codegenv2';
import type { Answer, Call } from '@phds/contracts/phds/common/v1/calls_pb';

// Messages of the streams that carry unary calls (proto/phds/common/v1/calls.proto).

/** What a caller sends: calls. */
export type CallsMessage = Message & { calls: Call[] };

/** What a service sends: answers, and whether it accepts no more calls. */
export type AnswersMessage = Message & { answers: Answer[]; closing: boolean };

/** A streaming rpc that carries calls of a unary rpc. */
export type StreamOfCalls = DescMethodBiDiStreaming<GenMessage<CallsMessage>, GenMessage<AnswersMessage>>;

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
