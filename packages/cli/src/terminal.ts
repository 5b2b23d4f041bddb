/** The methods of a terminal or pipe that progress needs. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

const REDRAW_MS = 100;
const PIPE_LINE_MS = 5_000;

/**
 * Shows the progress of one step, as `done` of `total`: a line that is redrawn on a terminal and removed at its end, otherwise a line every five
 * seconds. Shows nothing for short steps.
 */
export function createProgress(
  stream: ProgressStream,
  label: string,
  now: () => number = () => performance.now(),
) {
  const isTerminal = stream.isTTY === true;
  let shownAt = isTerminal ? Number.NEGATIVE_INFINITY : now();
  let isDrawn = false;
  return {
    update(done: number, total: number): void {
      if (now() - shownAt < (isTerminal ? REDRAW_MS : PIPE_LINE_MS)) return;
      shownAt = now();
      isDrawn = isTerminal;
      const text = `${label} ${percent(done, total)} of ${megabytes(total)}`;
      stream.write(isTerminal ? `\r\u001b[K${text}` : `${text}\n`);
    },
    finish(): void {
      if (isDrawn) stream.write('\r\u001b[K');
    },
  };
}

function percent(done: number, total: number): string {
  return `${total === 0 ? 100 : Math.min(100, Math.floor((done / total) * 100))} %`;
}

/** Formats a size in megabytes. */
export function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

/** Columns as wide as their widest cell. */
export function toTable(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0))) ?? [];
  const lines = rows.map((row) => row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join('  '));
  return lines.map((line) => `${line.trimEnd()}\n`).join('');
}
