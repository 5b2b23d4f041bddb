import de from '../../texts/de/apps.json' with { type: 'json' };
import { defineTexts } from '../../texts/define-texts.ts';
import en from '../../texts/en/apps.json' with { type: 'json' };

export const { text, Rich } = defineTexts('apps', { en, de });
