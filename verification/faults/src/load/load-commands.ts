import type { LoadOptions, LoadReport } from './load.ts';
import type { Tally } from './tally.ts';

/** What the load can be told to do. */
export type LoadCommand =
  | { readonly kind: 'prepare'; readonly options: LoadOptions }
  | { readonly kind: 'begin' }
  | { readonly kind: 'look' }
  | { readonly kind: 'storm'; readonly tokens: number }
  | { readonly kind: 'end' };

/** Its answer, by the number of the command. */
export interface LoadReply {
  readonly id: number;
  readonly result?: LoadReport | Tally | undefined;
  readonly error?: string;
}
