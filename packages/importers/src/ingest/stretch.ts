import { ImportReport } from './report.ts';

/**
 * A stretch of the input between two positions, and what became of its items. Batches never reach over the end of a
 * stretch, so once all of them have been answered its report is about exactly this part of the input.
 */
export class Stretch {
  readonly report: ImportReport;
  /** Items that were handed over, stored or not. */
  items = 0;
  /** Batches that have not been answered. */
  outstanding = 0;
  /** Position at which the stretch ends; null while it goes on. */
  end: number | null = null;

  constructor(describe: (origin: number) => string) {
    this.report = new ImportReport(describe);
  }
}

/** The stretches of an import in order, and the low-water position: everything before it has been stored. */
export class Stretches {
  /** What became of the input before `position`. */
  readonly report: ImportReport;
  readonly #describe: (origin: number) => string;
  readonly #open: Stretch[];
  #position: number;

  constructor(position: number, report: ImportReport, describe: (origin: number) => string) {
    this.#position = position;
    this.report = report;
    this.#describe = describe;
    this.#open = [new Stretch(describe)];
  }

  get position(): number {
    return this.#position;
  }

  /** The stretch that items belong to now. */
  get current(): Stretch {
    return this.#open.at(-1) as Stretch;
  }

  /** Ends the current stretch at a position. */
  cut(position: number): void {
    this.current.end = position;
    this.#open.push(new Stretch(this.#describe));
    this.settle();
  }

  /** Moves the position over every leading stretch that has ended and has been stored. */
  settle(): void {
    for (let first = this.#open[0]; first !== undefined; first = this.#open[0]) {
      if (first.end === null || first.outstanding > 0) return;
      this.report.add(first.report);
      this.#position = first.end;
      this.#open.shift();
    }
  }

  /** What became of all items so far, those behind the position included. */
  total(): ImportReport {
    const total = new ImportReport(this.#describe);
    for (const report of [this.report, ...this.#open.map((stretch) => stretch.report)]) total.add(report);
    return total;
  }
}
