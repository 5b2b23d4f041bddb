import { defineTexts } from '../../texts/define-texts.ts';
import en from '../../texts/en/console.json' with { type: 'json' };

/** The texts of the developer console. */
export const { text, Rich } = defineTexts('console', { en });
