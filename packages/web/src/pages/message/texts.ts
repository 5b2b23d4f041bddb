import de from '../../texts/de/message.json' with { type: 'json' };
import { defineTexts } from '../../texts/define-texts.ts';
import en from '../../texts/en/message.json' with { type: 'json' };

export const { text, Rich } = defineTexts('message', { en, de });
