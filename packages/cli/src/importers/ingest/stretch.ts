import { ImportReport } from './report.ts';

/**
 * A part of the input between two positions, with the results of its items. Batches do not cross the end of a stretch, so once all
 * of them are answered, its report covers exactly this part.
 */
export class Stretch {
  readonly report: ImportReport;
  /** Number of received items, stored or not. */
  items = 0;
  /** Number of unanswered batches. */
  outstanding = 0;
  /** Position at which the stretch ends; null while it is open. */
  end: number | null = null;

  constructor(describe: (origin: number) => string) {
    this.report = new ImportReport(describe);
  }
}

/** The stretches of an import in order, with the low-water position: everything before it is stored. */
export class Stretches {
  /** The report about the input before `position`. */
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

  /** The stretch to which new items belong. */
  get current(): Stretch {
    return this.#open.at(-1) as Stretch;
  }

  /** Ends the current stretch at a position. */
  cut(position: number): void {
    this.current.end = position;
    this.#open.push(new Stretch(this.#describe));
    this.settle();
  }

  /** Moves the position past all leading stretches that have ended and are stored. */
  settle(): void {
    for (let first = this.#open[0]; first !== undefined; first = this.#open[0]) {
      if (first.end === null || first.outstanding > 0) return;
      this.report.add(first.report);
      this.#position = first.end;
      this.#open.shift();
    }
  }

  /** The report about all items so far, including those after the position. */
  total(): ImportReport {
    const total = new ImportReport(this.#describe);
    for (const report of [this.report, ...this.#open.map((stretch) => stretch.report)]) total.add(report);
    return total;
  }
}
