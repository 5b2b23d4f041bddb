/** Exit codes of the commands: done (even if items were refused), failed, wrong arguments. */
export const EXIT_DONE = 0;
export const EXIT_FAILED = 1;
export const EXIT_USAGE = 2;

/** Receives the exit code of a command. */
export type Finish = (code: number) => void;
