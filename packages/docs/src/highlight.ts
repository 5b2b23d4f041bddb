import highlighter from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import http from 'highlight.js/lib/languages/http';
import json from 'highlight.js/lib/languages/json';
import typescript from 'highlight.js/lib/languages/typescript';
import { escapeHtml } from './escape.ts';

highlighter.registerLanguage('sh', bash);
highlighter.registerLanguage('http', http);
highlighter.registerLanguage('json', json);
highlighter.registerLanguage('ts', typescript);

/** Marks up code with classes; the style sheet has the colors. Code without a language stays plain. */
export function highlight(code: string, language: string): string {
  if (language === '') return escapeHtml(code);
  if (highlighter.getLanguage(language) === undefined) throw new Error(`No highlighting for "${language}".`);
  return highlighter.highlight(code, { language }).value;
}
