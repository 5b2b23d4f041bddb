/** Cyrillic and Greek letters, each with the Latin letter that it is taken for. Capitals come first, where small ones look like others. */
const LOOK_ALIKES = new Map(
  (
    'Аa Вb Еe Ѕs Іi Јj Кk Мm Нh Оo Рp Сc Тt Уy Хx Үy ԁd Һh ԛq ԝw ' +
    'аa вb еe ѕs іi јj кk мm нh оo рp сc тt уy хx үy һh ӏl ьb ' +
    'Αa Βb Εe Ζz Ηh Ιi Κk Μm Νn Οo Ρp Τt Υy Χx αa βb γy εe ηn ιi κk νv οo ρp τt υu χx ωw'
  )
    .split(' ')
    .map(([foreign = '', latin = '']) => [foreign, latin]),
);

/**
 * A name without what is easily overlooked: case, spaces, punctuation, and forms of the same letter, also of other scripts. Symbols count
 * only in a name that has no letters and digits.
 */
export function foldName(name: string): string {
  const latin = [...name.normalize('NFKC')].map((letter) => LOOK_ALIKES.get(letter) ?? letter);
  const folded = latin.join('').toLowerCase();
  return folded.replaceAll(/[^\p{L}\p{N}]/gu, '') || folded.trim();
}

/** What the pages call this service in each language, and its own name. */
const SERVICE_NAMES = ['Your health data', 'Ihre Gesundheitsdaten', 'Partner Health Data'].map(foldName);

/** Whether a name has a name of this service in it, or is its abbreviation. */
export function isServiceName(name: string): boolean {
  const folded = foldName(name);
  return folded === 'phds' || SERVICE_NAMES.some((own) => folded.includes(own));
}
