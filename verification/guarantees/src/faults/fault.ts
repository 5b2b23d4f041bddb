import type { ProxiedStack } from '@phds/running-system/proxied-stack';
import type { LoadProcess } from '../load/load-process.ts';

/** The environment of a fault. */
export interface Site {
  readonly stack: ProxiedStack;
  readonly load: Pick<LoadProcess, 'readTally' | 'storm'>;
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
  /** A program that a machine may lack. */
  readonly needs?: 'Redis' | 'haproxy';
  /** Promises that do not hold meanwhile, as the documentation says. */
  readonly excuses?: readonly string[];
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

/** Begins a disturbance. What it adds to `undo` ends it, also if the beginning fails. */
type Cause = (site: Site, undo: AsyncDisposableStack, turn: number) => unknown;

/** When a disturbance is there. */
interface Rhythm {
  /** Length of a turn; by default, the only turn takes as long as the fault. */
  readonly everyMs?: number;
  /** Part of a turn during which it lasts; by default all of it. */
  readonly share?: number;
  /** The longest time that it lasts in a turn. */
  readonly mostMs?: number;
}

/** Causes a disturbance in each turn, and undoes it after its part of the turn. */
export function disturb(cause: Cause, { everyMs, share = 1, mostMs }: Rhythm = {}): Fault['play'] {
  return (site) =>
    again(site, everyMs ?? site.milliseconds, async (turn, turnMs) => {
      const lastsMs = Math.min(turnMs * share, mostMs ?? turnMs);
      {
        await using undo = new AsyncDisposableStack();
        await cause(site, undo, turn);
        await site.sleep(lastsMs);
      }
      await site.sleep(turnMs - lastsMs);
    });
}
