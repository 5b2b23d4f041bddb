import { isServiceName } from './folded-names.ts';

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
const EXCESS_MARKS = /(\p{M}{6})\p{M}+/gu;
const LINE_BREAKS = /[\n\t]/g;
/** Without U+FEFF, which is invisible and no space, although `\s` contains it. */
const WHITE_SPACE = /[^\S\uFEFF]+/g;
const ANY_LINE_BREAK = /\r\n|[\r\u0085\u2028\u2029]/g;
const JOINER = /\u200C|\u200D|\uFE0F/g;
/** An invisible character; the group matches if it is a joiner or sign that belongs to its neighbours, or a line break or tab. */
const SEEN_JOINER_OR_UNSEEN = new RegExp(
  `(${[JOINER_IN_WORD, JOINER_AFTER_VIRAMA, EMOJI_PARTS, LINE_BREAKS].map(({ source }) => source).join('|')})|${UNSEEN.source}`,
  'gu',
);
const SEEN = /[\p{L}\p{N}\p{Extended_Pictographic}]/u;

/**
 * The reason why a text shown to people at a decision is invalid, or null. Invisible characters and characters that change how
 * others are read are refused.
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
  if (!SEEN.test(name)) return 'must contain a letter, a digit or an emoji';
  return isServiceName(name) ? 'must not contain the name of this service' : null;
}

/**
 * A text without what `findShownTextFault` refuses, trimmed, for texts whose writer is not asked to correct them. White space is one
 * space; in `lines`, line breaks and tabs stay.
 */
export function cleanShownText(text: string, kind: 'line' | 'lines'): string {
  const broken = text.replace(ANY_LINE_BREAK, '\n');
  const spaced = kind === 'line' ? broken.replace(WHITE_SPACE, ' ') : broken;
  const cleaned = spaced
    .replace(SEEN_JOINER_OR_UNSEEN, (character, seen) => (seen === undefined ? '' : character))
    .replace(EXCESS_MARKS, '$1')
    .trim();
  // A joiner may have been between characters of which one was removed.
  return findShownTextFault(cleaned, kind) === null
    ? cleaned
    : cleaned.replace(JOINER, '').replace(EXCESS_MARKS, '$1').trim();
}

/** The number of characters as people count them, not UTF-16 units. */
export function countCharacters(text: string): number {
  return [...text].length;
}

function toCodePoint(character: string): string {
  return `U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`;
}
