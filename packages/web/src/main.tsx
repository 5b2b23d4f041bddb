import './style/base.css';
import { i18n } from '@lingui/core';
import { I18nProvider } from '@lingui/react';
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createQueryClient } from './api/query-client.ts';
import { forgetSilentSignIn } from './api/sign-in.ts';
import { App } from './app.tsx';
import { startLanguage } from './texts/language.ts';

const root = document.getElementById('root');
if (root === null) throw new Error('The page has no root element.');
forgetSilentSignIn();
startLanguage();
createRoot(root).render(
  <StrictMode>
    <I18nProvider i18n={i18n}>
      <QueryClientProvider client={createQueryClient()}>
        <App />
      </QueryClientProvider>
    </I18nProvider>
  </StrictMode>,
);
