import { closeSync, openSync, writeSync } from 'node:fs';

/** Appends lines to a log file. */
export interface LogWriter extends Disposable {
  readonly write: (line: string) => void;
}

/** Opens a log file for lines written by this process. Lines after disposal are dropped. */
export function openLogWriter(path: string): LogWriter {
  const file = openSync(path, 'a');
  let open = true;
  return {
    write: (line) => {
      if (open) writeSync(file, `${line}\n`);
    },
    [Symbol.dispose]: () => {
      open = false;
      closeSync(file);
    },
  };
}
