import de from '../../texts/de/approve.json' with { type: 'json' };
import { defineTexts } from '../../texts/define-texts.ts';
import en from '../../texts/en/approve.json' with { type: 'json' };

export const { text, Rich } = defineTexts('approve', { en, de });
