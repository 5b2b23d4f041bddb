import de from '../../texts/de/history.json' with { type: 'json' };
import { defineTexts } from '../../texts/define-texts.ts';
import en from '../../texts/en/history.json' with { type: 'json' };

export const { text } = defineTexts('history', { en, de });
