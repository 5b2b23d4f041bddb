/** What a proxy does to the bytes that pass. */
export type ProxyMode =
  /** Passes everything on. */
  | { readonly kind: 'pass' }
  /** Holds each chunk back for so long, in both directions. */
  | { readonly kind: 'delay'; readonly milliseconds: number }
  /** Swallows every byte. A connection that lost one delivers nothing ever after, as TCP would not; nobody is told. */
  | { readonly kind: 'drop' }
  /** The servers side is gone and the client has not heard of it: what it sends vanishes, nothing comes, nothing closes. */
  | { readonly kind: 'half-open' }
  /** Resets every connection there is, and each new one at its first byte. */
  | { readonly kind: 'reset' }
  /** Delivers in tiny pieces, each a write of its own. */
  | { readonly kind: 'slice'; readonly bytes: number };
