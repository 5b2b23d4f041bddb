import de from '../../texts/de/home.json' with { type: 'json' };
import { defineTexts } from '../../texts/define-texts.ts';
import en from '../../texts/en/home.json' with { type: 'json' };

export const { text } = defineTexts('home', { en, de });
