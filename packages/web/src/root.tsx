import { i18n } from '@lingui/core';
import { I18nProvider } from '@lingui/react';
import { type QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { App } from './app.tsx';

/** The app in the current language, with the cache of its requests. */
export function Root({ client }: { readonly client: QueryClient }) {
  return (
    <I18nProvider i18n={i18n}>
      <QueryClientProvider client={client}>
        <App />
      </QueryClientProvider>
    </I18nProvider>
  );
}
