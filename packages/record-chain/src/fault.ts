/** What was done to the records. */
export type FaultKind =
  /** Not what it was when it was written. */
  | 'changed'
  /** Was written and is gone. */
  | 'removed'
  /** Stands at another place than it was written at. */
  | 'moved'
  /** Was never written by a writer. */
  | 'added';

/** The first thing found wrong, and where. */
export interface Fault {
  readonly kind: FaultKind;
  readonly subject: 'record' | 'batch' | 'checkpoint';
  /** UUID of the record; null where it cannot be known. */
  readonly recordId: string | null;
  /** Place in the chains; null for a checkpoint. */
  readonly writer: string | null;
  readonly seq: number | null;
  /** Position in the batch; null when a whole batch is meant. */
  readonly ordinal: number | null;
  readonly detail: string;
}

/** A fault that concerns a whole batch. */
export function batchFault(kind: FaultKind, writer: string, seq: number, detail: string): Fault {
  return { kind, subject: 'batch', recordId: null, writer, seq, ordinal: null, detail };
}

/** A fault that concerns a checkpoint. */
export function checkpointFault(kind: FaultKind, detail: string): Fault {
  return { kind, subject: 'checkpoint', recordId: null, writer: null, seq: null, ordinal: null, detail };
}
