/** Letters and controls that could change the direction of the text around them; most of these scripts are written from right to left. */
const DIRECTING =
  /[\p{Bidi_Control}\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFF\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u;

/**
 * A text that somebody else wrote, for use within a text of the page. If it could reorder the words around it, it is put between isolating
 * characters, which have the effect of `<bdi>` also in titles and labels, where no elements are possible.
 */
export function isolated(words: string): string {
  return DIRECTING.test(words) ? `\u2068${words}\u2069` : words;
}
