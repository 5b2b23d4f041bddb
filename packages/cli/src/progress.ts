/** The part of a terminal or pipe that progress is written to. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** Tells how far a long piece of work is. */
export interface Progress {
  /** Says that so much of the whole is done. */
  update(done: number, total: number): void;
  /** Ends the line; afterwards the stream is free for other text. */
  finish(): void;
}

const REDRAW_MS = 100;
const PIPE_LINE_MS = 5_000;

/**
 * Progress of one step: on a terminal a line that redraws itself, elsewhere a line every five seconds; nothing for work
 * that is over before.
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

/** A size for people. */
export function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
