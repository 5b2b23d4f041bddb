import faults from '../texts/faults.de.json' with { type: 'json' };
import { text } from '../texts/frame.ts';
import { currentLanguage } from '../texts/language.ts';

const GERMAN: ReadonlyMap<string, string> = new Map(Object.entries(faults));
const OF_ENTRY = /^entry (\d+) (.+)$/;
/** What differs in messages of the same kind: a number, a character, a host. */
const VARIABLE = /U\+[0-9A-F]+|\d+|(?<=resolve it: ).+/g;

/** What is wrong with a parameter, in the page's language; with the service's own words, which are English, if they are not known. */
export function faultText(message: string): string {
  if (currentLanguage() === 'en') return message;
  const [, entry = '', fault = ''] = OF_ENTRY.exec(message) ?? [];
  if (entry !== '') return text('faultOfEntry', { entry, fault: faultText(fault) });
  const variables = message.match(VARIABLE) ?? [];
  const german = GERMAN.get(message.replace(VARIABLE, '{}'));
  if (german === undefined) return text('faultOther', { words: message });
  return variables.reduce((whole, variable) => whole.replace('{}', () => variable), german);
}
