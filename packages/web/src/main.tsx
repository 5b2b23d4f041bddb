import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createQueryClient } from './api/query-client.ts';
import { forgetSilentSignIn } from './api/silent-sign-in.ts';
import { App } from './app.tsx';
import './style/base.css';

const root = document.getElementById('root');
if (root === null) throw new Error('The page has no root element.');
forgetSilentSignIn();
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={createQueryClient()}>
      <App />
    </QueryClientProvider>
  </StrictMode>,
);
