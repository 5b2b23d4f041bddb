import { compileMessageOrThrow } from '@lingui/message-utils/compileMessage';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), compileTexts()],
  // The gateway replaces this with a new nonce in each answer. The component library's style elements carry it.
  html: { cspNonce: 'CSP_NONCE' },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    // The content security policy allows nothing inline, so no asset may become a data URL or an inline script.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'baseline-widely-available',
  },
  server: {
    proxy: Object.fromEntries(
      ['/api', '/oauth', '/developer', '/partner', '/sign-in', '/sign-out'].map((path) => [
        path,
        'http://localhost:8080',
      ]),
    ),
  },
});

/** Compiles the ICU messages in `src/texts`, so that pages do not need a parser. A message that cannot be parsed fails the build. */
function compileTexts(): Plugin {
  return {
    name: 'compile-texts',
    enforce: 'pre',
    transform: {
      filter: { id: /\/src\/texts\/[a-z]+\/[a-z]+\.json$/ },
      handler(code) {
        const messages = Object.entries(JSON.parse(code) as Record<string, string>);
        return JSON.stringify(
          Object.fromEntries(messages.map(([id, text]) => [id, compileMessageOrThrow(text)])),
        );
      },
    },
  };
}
