import de from '../../texts/de/data.json' with { type: 'json' };
import { defineTexts } from '../../texts/define-texts.ts';
import en from '../../texts/en/data.json' with { type: 'json' };

export const { text } = defineTexts('data', { en, de });

/** The text of a code, such as `mood.neutral`; null for a code without a text. */
export function findText(id: string): string | null {
  return Object.hasOwn(en, id) ? text(id as keyof typeof en) : null;
}
