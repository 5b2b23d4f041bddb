import { Client, credentials, Metadata, type StatusObject } from '@grpc/grpc-js';

/** Everything that a caller sees of a call's end. */
export interface RawOutcome {
  readonly code: number;
  readonly text: string;
  /** Names of the fields before and after the response. */
  readonly fields: readonly string[];
  /** `grpc-status-details-bin`; empty if absent. */
  readonly details: Buffer;
  readonly messages: number;
  /** Whether the call was accepted before it had an outcome. */
  readonly isOpened: boolean;
}

interface RawCall {
  readonly path: string;
  readonly authorization: string | null;
  readonly bytes: Buffer;
}

const DEADLINE_MS = 30_000;

/** A gRPC client that sends bytes and decodes nothing. */
export class RawGrpc implements Disposable {
  readonly #client: Client;

  constructor(address: string) {
    this.#client = new Client(address, credentials.createInsecure());
  }

  /** Sends one message and waits for the end. */
  call({ path, authorization, bytes }: RawCall): Promise<RawOutcome> {
    const same = (buffer: Buffer) => buffer;
    const metadata = Metadata.fromHttp2Headers(authorization === null ? {} : { authorization });
    const options = { deadline: Date.now() + DEADLINE_MS };
    const { promise, resolve } = Promise.withResolvers<RawOutcome>();
    const fields = new Set<string>();
    let messages = 0;
    let isOpened = false;
    const finish = ({ code, details: text, metadata: trailers }: StatusObject) => {
      for (const name of Object.keys(trailers.getMap())) fields.add(name);
      const [details = Buffer.alloc(0)] = trailers.get('grpc-status-details-bin') as Buffer[];
      resolve({ code, text, fields: [...fields], details, messages, isOpened });
    };
    const note = (headers: Metadata) => {
      for (const name of Object.keys(headers.getMap())) fields.add(name);
      isOpened = true;
    };
    const done = (error: unknown) => {
      if (error === null) messages += 1;
    };
    const call = this.#client.makeUnaryRequest(path, same, same, bytes, metadata, options, done);
    call.on('metadata', note).on('status', finish);
    return promise;
  }

  [Symbol.dispose](): void {
    this.#client.close();
  }
}
