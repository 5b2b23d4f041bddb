/** Lints services/gateway/openapi.json, or the named file. Exits with 1 if anything is found. */
import { fileURLToPath } from 'node:url';
import { createConfig, formatProblems, getTotals, lint } from '@redocly/openapi-core';

const OWN = fileURLToPath(new URL('../openapi.json', import.meta.url));

const config = await createConfig({
  extends: ['recommended-strict'],
  rules: {
    // Each operator has other terms.
    'info-license': 'off',
    // GET /oauth/authorize redirects the browser, or shows a page about a mistake.
    'operation-2xx-response': 'off',
    // No operation answers `Problem` and `OauthError`: they are the errors of requests that reach no operation.
    'no-unused-components': 'off',
    'parameter-description': 'error',
  },
});
const problems = await lint({ ref: process.argv[2] ?? OWN, config });
if (problems.length > 0) {
  formatProblems(problems, { totals: getTotals(problems), format: 'codeframe', version: '' });
  process.exitCode = 1;
} else console.log('services/gateway/openapi.json has no faults of form.');
