/** What was done to the records. */
type FaultKind =
  /** Differs from what was written. */
  | 'changed'
  /** Was written but is missing. */
  | 'removed'
  /** Is at a different place than where it was written. */
  | 'moved'
  /** Was not written by a writer. */
  | 'added';

/** The first inconsistency and its position. */
export interface Fault {
  readonly kind: FaultKind;
  readonly subject: 'record' | 'batch' | 'checkpoint';
  /** UUID of the record; null when unknown. */
  readonly recordId: string | null;
  /** Position in the chains; null for a checkpoint. */
  readonly writer: string | null;
  readonly seq: number | null;
  /** Position in the batch; null for a whole batch. */
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
