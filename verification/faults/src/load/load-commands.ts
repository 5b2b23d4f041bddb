import type { LoadOptions, LoadReport } from './load.ts';
import type { Tally } from './tally.ts';

/** Commands to the load process. */
export type LoadCommand =
  | { readonly kind: 'prepare'; readonly options: LoadOptions }
  | { readonly kind: 'begin' }
  | { readonly kind: 'look' }
  | { readonly kind: 'storm'; readonly tokens: number }
  | { readonly kind: 'end' };

/** The reply to a command, with its number. */
export interface LoadReply {
  readonly id: number;
  readonly result?: LoadReport | Tally | undefined;
  readonly error?: string;
}
