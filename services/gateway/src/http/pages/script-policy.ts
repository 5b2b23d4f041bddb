/**
 * The header fields of a page with scripts of ours: everything comes from this origin, and forms are submitted by script only. `nonce`
 * admits style elements.
 */
export function toScriptPageHeaders(nonce?: string) {
  return {
    'Content-Security-Policy': [
      "default-src 'none'",
      "script-src 'self'",
      nonce === undefined ? "style-src 'self'" : `style-src 'self' 'nonce-${nonce}'`,
      "img-src 'self'",
      "connect-src 'self'",
      "form-action 'none'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    'Cross-Origin-Opener-Policy': 'same-origin',
  } as const;
}
