import type { DescMessage } from '@bufbuild/protobuf';
import type { CallStream } from '@phds/service-kit/rpc/call-stream';
import {
  type CallStreams,
  type CallStreamsOptions,
  openCallStreams,
} from '@phds/service-kit/rpc/call-streams';
import { eventually } from '@phds/test-kit/conditions';

/** The real streams between two services, which a history can lose. */
export class LosableStreams<I extends DescMessage, O extends DescMessage> implements CallStreams<I, O> {
  readonly #options: CallStreamsOptions<I, O>;
  #streams: CallStreams<I, O>;

  constructor(options: Omit<CallStreamsOptions<I, O>, 'onFailure'>) {
    this.#options = { ...options, onFailure: () => undefined };
    this.#streams = openCallStreams(this.#options);
  }

  get open(): readonly CallStream<I, O>[] {
    return this.#streams.open;
  }

  /** Ends the streams at once, with every call on them, and opens others. */
  async lose(): Promise<void> {
    this[Symbol.dispose]();
    this.#streams = openCallStreams(this.#options);
    await eventually(() => this.open.length > 0);
  }

  /** Opens streams if there are none, as after a change of the clocks, which ends the token of a stream. */
  async ready(): Promise<void> {
    if (this.open.length === 0) await this.lose();
  }

  [Symbol.dispose](): void {
    this.#streams[Symbol.dispose]();
  }
}
