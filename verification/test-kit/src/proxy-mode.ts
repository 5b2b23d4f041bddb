/** How a proxy treats the bytes. */
export type ProxyMode =
  /** Forwards everything. */
  | { readonly kind: 'pass' }
  /** Delays each chunk by this time, in both directions. */
  | { readonly kind: 'delay'; readonly milliseconds: number }
  /** Keeps connections open and delivers nothing until the next mode; then first what was held back. */
  | { readonly kind: 'hold' }
  /** Discards every byte. A connection that lost one stays open and delivers nothing more, because TCP never skips bytes. */
  | { readonly kind: 'drop' }
  /** Closes the server's side only: the client's bytes are discarded, nothing arrives, nothing closes. */
  | { readonly kind: 'half-open' }
  /** Resets every connection, and each new one at its first byte. */
  | { readonly kind: 'reset' }
  /** Forwards in tiny pieces, each with a separate write. */
  | { readonly kind: 'slice'; readonly bytes: number };
