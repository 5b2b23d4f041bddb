import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  // The gateway puts a fresh nonce in its place with each answer; the component library's style elements carry it.
  html: { cspNonce: 'CSP_NONCE' },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    // The page's policy allows no inline anything, so no asset may become a data URL or an inline script.
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
