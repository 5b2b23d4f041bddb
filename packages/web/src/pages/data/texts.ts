import de from '../../texts/de/data.json' with { type: 'json' };
import { defineTexts } from '../../texts/define-texts.ts';
import en from '../../texts/en/data.json' with { type: 'json' };

export const { text } = defineTexts('data', { en, de });
