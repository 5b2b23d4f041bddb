/// <reference types="vitepress/client" />
import type { Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import './style.css';
import { Deployment } from './deployment.ts';

const theme: Theme = {
  extends: DefaultTheme,
  enhanceApp: ({ app }) => {
    app.component('Deployment', Deployment);
  },
};

// VitePress reads the default export.
export default theme;
