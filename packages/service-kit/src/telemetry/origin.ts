import type { Context } from '@opentelemetry/api';

/** What work is done for: the request or, for work that serves several at once, the requests. */
export interface Origin {
  /** Their ids, for the log; a function if they are worth computing only then. Set again by `nameRequests`. */
  requestIds: readonly string[] | (() => readonly string[]);
  /** The place of the work in a trace. */
  readonly trace: Context | undefined;
}

export function requestIdsOf({ requestIds }: Origin): readonly string[] {
  return typeof requestIds === 'function' ? requestIds() : requestIds;
}

const REQUEST_ID = /^[\w-]{1,64}$/;

/** Reads the ids that a caller sent, separated by commas, and drops what is none. */
export function parseRequestIds(text: string): readonly string[] {
  return text.split(',').filter((id) => REQUEST_ID.test(id));
}
