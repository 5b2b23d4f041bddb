import type { Language } from '@phds/catalog/languages';
import { text } from '../texts/frame.ts';
import { chooseLanguage, currentLanguage, LANGUAGE_NAMES } from '../texts/language.ts';
import { Button } from './button.tsx';
import style from './language-choice.module.css';

/** A button for each language, in the words of that language. */
export function LanguageChoice() {
  return (
    <fieldset aria-label={text('language')} className={style['languages']}>
      {Object.entries(LANGUAGE_NAMES).map(([language, name]) => (
        <Button
          key={language}
          kind="quiet"
          lang={language}
          aria-pressed={language === currentLanguage()}
          onPress={() => chooseLanguage(language as Language)}
        >
          {name}
        </Button>
      ))}
    </fieldset>
  );
}
