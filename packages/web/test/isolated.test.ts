import { expect, test } from '@jest/globals';
import { i18n } from '@lingui/core';
import { I18nProvider } from '@lingui/react';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { Rich, text } from '../src/pages/approve/texts.ts';

const HEBREW = 'בריאות 24';

test('only a name in another direction is isolated in a text, and every one in an element', () => {
  expect(text('nothing', { app: HEBREW })).toBe(
    `Nothing is selected, so \u2068${HEBREW}\u2069 gets nothing.`,
  );
  expect(text('nothing', { app: 'Run' })).toBe('Nothing is selected, so Run gets nothing.');
  const rich = createElement(Rich, {
    id: 'returnTo',
    values: { host: HEBREW },
    components: { host: createElement('b') },
  });
  expect(renderToStaticMarkup(createElement(I18nProvider, { i18n }, rich))).toBe(
    `You&#x27;ll return to <b><bdi>${HEBREW}</bdi></b>`,
  );
});
