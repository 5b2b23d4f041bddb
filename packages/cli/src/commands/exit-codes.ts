/** Exit codes of the commands: done (refusals included), could not be done, wrongly called. */
export const EXIT_DONE = 0;
export const EXIT_FAILED = 1;
export const EXIT_USAGE = 2;
