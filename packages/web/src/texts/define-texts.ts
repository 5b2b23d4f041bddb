import { i18n } from '@lingui/core';
import { Trans } from '@lingui/react';
import { LANGUAGES } from '@phds/catalog/languages';
import { createElement, Fragment, type ReactElement, type ReactNode } from 'react';
import frame from './en/frame.json' with { type: 'json' };
import { isolated } from './isolated.ts';
import { USUAL_LOCALES } from './language.ts';

/** Values for the placeholders of a message. */
type Values = Readonly<Record<string, string | number>>;

// Lingui decodes `\u202e` in the finished text, and with it in values, which apps choose. A stand-in keeps their backslashes.
const BACKSLASH = '\uE000';

/**
 * Registers the messages of an area of the app, in ICU MessageFormat, and returns its texts with those of the frame. An area without
 * German is in English.
 *
 * - `text(id, values)`: a message as plain text in the current language. The root component renders again when that changes.
 * - `Rich`: a message with elements: `<link>…</link>` in the message becomes the element `link` of `components`. Tags in values are
 *   plain text.
 *
 * Texts in values, which apps and persons may have chosen, are isolated: they do not change the direction of the text around them.
 *
 * The build compiles the messages; see `vite.config.ts`.
 */
export function defineTexts<const Catalog extends Readonly<Record<string, string>>>(
  area: string,
  catalogs: { readonly en: Catalog; readonly de?: Catalog },
) {
  type Id = (keyof Catalog | keyof typeof frame) & string;
  const toKey = (id: string) => `${Object.hasOwn(catalogs.en, id) ? area : 'frame'}.${id}`;
  for (const language of LANGUAGES) {
    const messages = Object.entries<string>(catalogs[language] ?? catalogs.en).map(([id, message]) => [
      toKey(id),
      message,
    ]);
    i18n.load(language, Object.fromEntries(messages));
  }

  // Until the page starts in its language.
  if (i18n.locale === '') i18n.activate('en', USUAL_LOCALES.en);

  function text(id: Id, values: Values = {}): string {
    const safe = Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'string' ? isolated(value).replaceAll('\\', BACKSLASH) : value,
    ]);
    return i18n._(toKey(id), Object.fromEntries(safe)).replaceAll(BACKSLASH, '\\');
  }

  function rich({
    id,
    values = {},
    components = {},
  }: {
    readonly id: Id;
    readonly values?: Readonly<Record<string, ReactNode>>;
    readonly components?: Readonly<Record<string, ReactElement>>;
  }) {
    // Texts become elements, because Lingui would read tags in them.
    const safe = Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'number'
        ? value
        : createElement(typeof value === 'string' ? 'bdi' : Fragment, null, value),
    ]);
    return createElement(Trans, { id: toKey(id), values: Object.fromEntries(safe), components });
  }

  return { text, Rich: rich };
}
