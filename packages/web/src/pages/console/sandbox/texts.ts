import de from '../../../texts/de/sandbox.json' with { type: 'json' };
import { defineTexts } from '../../../texts/define-texts.ts';
import en from '../../../texts/en/sandbox.json' with { type: 'json' };

/** The texts of the sandbox page. */
export const { text, Rich } = defineTexts('sandbox', { en, de });
