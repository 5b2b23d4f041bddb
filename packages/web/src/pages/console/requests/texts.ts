import de from '../../../texts/de/requests.json' with { type: 'json' };
import { defineTexts } from '../../../texts/define-texts.ts';
import en from '../../../texts/en/requests.json' with { type: 'json' };

/** The texts of the request log. */
export const { text, Rich } = defineTexts('requests', { en, de });
