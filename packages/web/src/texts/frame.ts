import de from './de/frame.json' with { type: 'json' };
import { defineTexts } from './define-texts.ts';
import en from './en/frame.json' with { type: 'json' };

/** The texts of the layout and of the parts that several pages use. */
export const { text, Rich } = defineTexts('frame', { en, de });
