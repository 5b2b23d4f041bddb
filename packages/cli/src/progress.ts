/** The methods of a terminal or pipe that progress needs. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** Reports the progress of a long step. */
export interface Progress {
  /** Reports that `done` of `total` is complete. */
  update(done: number, total: number): void;
  /** Ends the line, so that the stream can be used for other text. */
  finish(): void;
}

const REDRAW_MS = 100;
const PIPE_LINE_MS = 5_000;

/**
 * Shows the progress of one step: a line that is redrawn on a terminal, otherwise a line every five seconds. Shows nothing for
 * short steps.
 */
export function createProgress(
  stream: ProgressStream,
  label: string,
  now: () => number = () => performance.now(),
): Progress {
  return stream.isTTY === true ? terminalProgress(stream, label, now) : pipeProgress(stream, label, now);
}

function terminalProgress(stream: ProgressStream, label: string, now: () => number): Progress {
  let drawnAt = Number.NEGATIVE_INFINITY;
  let isDrawn = false;
  return {
    update(done, total) {
      if (now() - drawnAt < REDRAW_MS) return;
      drawnAt = now();
      isDrawn = true;
      stream.write(`\r\u001b[K${label} ${percent(done, total)} of ${megabytes(total)}`);
    },
    finish() {
      if (isDrawn) stream.write('\r\u001b[K');
    },
  };
}

function pipeProgress(stream: ProgressStream, label: string, now: () => number): Progress {
  let toldAt = now();
  return {
    update(done, total) {
      if (now() - toldAt < PIPE_LINE_MS) return;
      toldAt = now();
      stream.write(`${label} ${percent(done, total)} of ${megabytes(total)}\n`);
    },
    finish: () => undefined,
  };
}

function percent(done: number, total: number): string {
  return `${total === 0 ? 100 : Math.min(100, Math.floor((done / total) * 100))} %`;
}

/** Formats a size in megabytes. */
export function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
