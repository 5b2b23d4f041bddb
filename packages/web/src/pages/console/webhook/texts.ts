import de from '../../../texts/de/webhook.json' with { type: 'json' };
import { defineTexts } from '../../../texts/define-texts.ts';
import en from '../../../texts/en/webhook.json' with { type: 'json' };

/** The texts of an app's webhook page. */
export const { text, Rich } = defineTexts('webhook', { en, de });
