import { currentLocale } from '../texts/language.ts';

/** Returns a function for the formatter of the page's present locale. Formatters are kept, because making one is slow. */
function byLocale<Format>(create: (locale: string) => Format): () => Format {
  const made = new Map<string, Format>();
  return () => {
    const locale = currentLocale();
    const format = made.get(locale) ?? create(locale);
    made.set(locale, format);
    return format;
  };
}

/** A formatter of dates and times. */
export function dateFormat(options: Intl.DateTimeFormatOptions): () => Intl.DateTimeFormat {
  return byLocale((locale) => new Intl.DateTimeFormat(locale, options));
}

const numberFormat = byLocale((locale) => new Intl.NumberFormat(locale));
const listFormats = {
  conjunction: byLocale((locale) => new Intl.ListFormat(locale, { type: 'conjunction' })),
  disjunction: byLocale((locale) => new Intl.ListFormat(locale, { type: 'disjunction' })),
};

/** A number in the page's locale. */
export function formatNumber(value: number): string {
  return numberFormat().format(value);
}

/** A list in a sentence: “a, b and c”, or “a, b or c” for a disjunction. */
export function formatList(items: readonly string[], type: keyof typeof listFormats = 'conjunction'): string {
  return listFormats[type]().format(items);
}
