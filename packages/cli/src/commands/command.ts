import type { ProgressStream } from '../terminal.ts';

/** Exit codes of the commands: done (even if items were refused), failed, wrong arguments. */
export const EXIT_DONE = 0;
export const EXIT_FAILED = 1;
export const EXIT_USAGE = 2;
/** The records could not be read, so nothing is known about them. */
export const EXIT_NOT_VERIFIED = 3;

/** Receives the exit code of a command. */
export type Finish = (code: number) => void;

/** The streams of a command, and how it connects to what it works with. */
export interface Surroundings<Connection, Output = { write(text: string): unknown }> {
  readonly output: Output;
  readonly errors: ProgressStream;
  readonly connect: () => Connection;
}

export function toJson(document: object): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}
