import './style/base.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { startPageMessage } from './api/page-message.ts';
import { createQueryClient } from './api/query-client.ts';
import { startSignIn } from './api/sign-in.ts';
import { Root } from './root.tsx';
import { startLanguage } from './texts/language.ts';

const root = document.getElementById('root');
if (root === null) throw new Error('The page has no root element.');
startSignIn();
startPageMessage();
startLanguage();
createRoot(root).render(
  <StrictMode>
    <Root client={createQueryClient()} />
  </StrictMode>,
);
