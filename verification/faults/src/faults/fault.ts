import type { LoadProcess } from '../load/load-process.ts';
import type { ProxiedStack } from '../proxied-stack.ts';

/** Where a fault takes place. */
export interface Site {
  readonly stack: ProxiedStack;
  readonly load: Pick<LoadProcess, 'storm'>;
  /** About how long it is to last. */
  readonly milliseconds: number;
  /** Adds a line to the timeline. */
  say(what: string): void;
  /** Milliseconds. */
  sleep(milliseconds: number): Promise<void>;
}

/** Something that goes wrong while people and apps go on as ever. */
export interface Fault {
  /** What it is chosen by. */
  readonly name: string;
  /** For people, in a sentence. */
  readonly what: string;
  readonly needsRedis?: boolean;
  /** It ends processes with SIGKILL. Whatever else ends one is a violation. */
  readonly kills?: boolean;
  /** Brings it about, for about as long as the site says, and undoes it whatever happens in between. */
  play(site: Site): Promise<void>;
}

/** Does something again and again for as long as a fault is to last, at least once. Each time it gets at most this long. */
export async function again(
  site: Site,
  everyMs: number,
  act: (turn: number, milliseconds: number) => Promise<void>,
): Promise<void> {
  const turns = Math.max(1, Math.round(site.milliseconds / everyMs));
  for (let turn = 0; turn < turns; turn += 1) await act(turn, site.milliseconds / turns);
}
