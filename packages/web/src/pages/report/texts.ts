import de from '../../texts/de/report.json' with { type: 'json' };
import { defineTexts } from '../../texts/define-texts.ts';
import en from '../../texts/en/report.json' with { type: 'json' };

export const { text } = defineTexts('report', { en, de });
