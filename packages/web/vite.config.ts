import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { compileTexts, TEXTS } from './bin/compile-texts.ts';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), compiledTexts()],
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

/** A message that cannot be parsed fails the build. */
function compiledTexts(): Plugin {
  return {
    name: 'compile-texts',
    enforce: 'pre',
    transform: { filter: { id: TEXTS }, handler: compileTexts },
  };
}
