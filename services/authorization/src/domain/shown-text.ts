/** Scripts whose spelling requires ZWNJ and ZWJ between letters, such as Persian and most Indian scripts. */
const JOINING = 'Arab Syrc Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Khmr Mymr'
  .split(' ')
  .map((script) => `\\p{scx=${script}}`)
  .join('');
const JOINER_IN_WORD = new RegExp(`(?<=[${JOINING}])[\\u200C\\u200D](?=[${JOINING}])`, 'gu');
/** Chillu letters of Malayalam and forms of Sinhala at the end of a word: a virama and ZWJ. */
const JOINER_AFTER_VIRAMA =
  /(?<=[\u094D\u09CD\u0A4D\u0ACD\u0B4D\u0BCD\u0C4D\u0CCD\u0D4D\u0DCA])\u200D(?![\p{L}\p{M}\u200C\u200D])/gu;
/** Emoji sequences are joined by ZWJ and shown in colour by U+FE0F. */
const EMOJI_PARTS =
  /(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}]|\uFE0F)\u200D(?=\p{Extended_Pictographic})|(?<=\p{Emoji})\uFE0F/gu;
/**
 * Control and format characters (including those that change the text direction), fillers and blanks (including Braille, Khitan and
 * Egyptian), the object replacement character, and unassigned or meaningless code points.
 */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\uFFFC\u{13441}\u{13442}\u{16FE4}]/u;
/** Burmese words have up to five marks on one letter. More than six can cover the surrounding text. */
const PILED_MARKS = /\p{M}{7,}/u;
const LINE_BREAKS = /[\n\t]/g;
const SEEN = /[\p{L}\p{N}\p{Extended_Pictographic}]/u;

/**
 * The reason why a text shown to people at a decision is invalid, or null. Invisible characters and characters that change how
 * others are read are refused (docs/decisions/0009).
 */
export function findShownTextFault(text: string, kind: 'line' | 'lines'): string | null {
  const judged = text.replace(JOINER_IN_WORD, '').replace(JOINER_AFTER_VIRAMA, '').replace(EMOJI_PARTS, '');
  const [unseen] = UNSEEN.exec(kind === 'line' ? judged : judged.replace(LINE_BREAKS, '')) ?? [];
  if (unseen !== undefined) {
    return `must not contain characters that are invisible or change the direction of text, such as ${toCodePoint(unseen)}`;
  }
  return PILED_MARKS.test(judged) ? 'must not have more than 6 combining marks in a row' : null;
}

/** The reason why a name is invalid, or null. */
export function findNameFault(name: string): string | null {
  if (name === '') return 'must not be empty';
  const fault = findShownTextFault(name, 'line');
  if (fault !== null) return fault;
  return SEEN.test(name) ? null : 'must contain a letter, a digit or an emoji';
}

/** The number of characters as people count them, not UTF-16 units. */
export function countCharacters(text: string): number {
  return [...text].length;
}

function toCodePoint(character: string): string {
  return `U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`;
}
