import type { ProxiedStack } from '@phds/running-system/proxied-stack';
import type { LoadProcess } from '../load/load-process.ts';

/** The environment of a fault. */
export interface Site {
  readonly stack: ProxiedStack;
  readonly load: Pick<LoadProcess, 'look' | 'storm'>;
  /** Approximate duration of the fault. */
  readonly milliseconds: number;
  /** Adds a line to the timeline. */
  say(what: string): void;
  /** Milliseconds. */
  sleep(milliseconds: number): Promise<void>;
}

/** A disturbance while people and apps keep using the service. */
export interface Fault {
  /** The name it is selected by. */
  readonly name: string;
  /** A sentence for people. */
  readonly what: string;
  readonly needsRedis?: boolean;
  /** Whether it ends processes with SIGKILL. A process that ends in any other way is a violation. */
  readonly kills?: boolean;
  /** Causes the fault for about the site's duration, and always undoes it. */
  play(site: Site): Promise<void>;
}

/** Repeats `act` for the duration of a fault, at least once, with a time limit for each run. */
export async function again(
  site: Site,
  everyMs: number,
  act: (turn: number, milliseconds: number) => Promise<void>,
): Promise<void> {
  const turns = Math.max(1, Math.round(site.milliseconds / everyMs));
  for (let turn = 0; turn < turns; turn += 1) await act(turn, site.milliseconds / turns);
}
