/**
 * Writes docs/operations/settings.md from the schemas of the settings: `node verification/house-rules/bin/generate-settings.ts`. With
 * `--check` it writes nothing and fails if the page is stale.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { findText, repositoryRoot } from '../src/repository.ts';
import { toSettingsPage } from '../src/settings-page.ts';

const FILE = 'docs/operations/settings.md';
const page = toSettingsPage();
if (!process.argv.includes('--check')) {
  writeFileSync(path.join(repositoryRoot, FILE), page);
} else if (findText(FILE) !== page) {
  console.error(`${FILE} is stale. Run: pnpm gen:settings`);
  process.exitCode = 1;
}
