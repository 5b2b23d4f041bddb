import type { Tally } from './load/tally.ts';

/** Prints what happens, each line with its time. */
export class Timeline {
  readonly #print: (line: string) => void;
  readonly #start = performance.now();
  #last: Readonly<Record<string, number>> = {};

  constructor(print: (line: string) => void) {
    this.#print = print;
  }

  get seconds(): number {
    return (performance.now() - this.#start) / 1000;
  }

  say(what: string): void {
    this.#print(`  ${this.seconds.toFixed(1).padStart(5)} s  ${what}`);
  }

  /** Prints the reads since the last call. */
  look({ reads, endings, trials }: Tally): void {
    const now = { ...reads, ended: Object.values(endings).reduce((sum, each) => sum + each, 0), trials };
    const since = Object.entries(now)
      .map(([name, value]) => [name, value - (this.#last[name] ?? 0)] as const)
      .filter(([, value]) => value > 0);
    this.#last = now;
    this.say(`    ${since.map(([name, value]) => `${name}: ${value}`).join('  ') || 'nothing'}`);
  }
}
