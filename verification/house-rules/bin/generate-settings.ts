/**
 * Writes docs/operations/settings.md from the schemas of the settings, and the tables of docs/internal-services.md from the rpcs:
 * `node verification/house-rules/bin/generate-settings.ts`. With `--check` it writes nothing and fails if a page is stale.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { findText, repositoryRoot } from '../src/repository.ts';
import { RPC_PAGE, toRpcPage } from '../src/rpc-table.ts';
import { toSettingsPage } from '../src/settings-page.ts';

const PAGES = {
  'docs/operations/settings.md': toSettingsPage(),
  [RPC_PAGE]: toRpcPage(findText(RPC_PAGE) ?? ''),
};
for (const [file, page] of Object.entries(PAGES)) {
  if (!process.argv.includes('--check')) {
    writeFileSync(path.join(repositoryRoot, file), page);
  } else if (findText(file) !== page) {
    console.error(`${file} is stale. Run: pnpm gen:settings`);
    process.exitCode = 1;
  }
}
