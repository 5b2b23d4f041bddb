/**
 * Entry point of `pnpm phds` in a checkout: the commands of packages/cli, with the local stack unless the environment
 * names a deployment.
 */

import { EXIT_FAILED } from '@phds/cli/commands/command';
import { runProgram } from '@phds/cli/run-program';
import type { Command } from 'commander';
import { findStackFile } from '../data-directory.ts';
import { findLocalSettings, IncompleteDeployment } from './local-settings.ts';

const NO_STACK = `No local stack is running. Start it with: npm start
To work with a service elsewhere, set the variables that pnpm phds --help names.
`;

await runProgram((program) => program.hook('preAction', (_, action) => useLocalSettings(program, action)));

/** Adds the settings of the local stack to the environment. Exits if the stack is needed but not running. */
function useLocalSettings(program: Command, action: Command): void {
  const group = action.parent === program ? action : action.parent;
  try {
    const settings = findLocalSettings(group?.name() ?? '', process.env, () => findStackFile());
    if (settings !== null) return void Object.assign(process.env, settings);
    process.stderr.write(NO_STACK);
  } catch (error) {
    if (!(error instanceof IncompleteDeployment)) throw error;
    process.stderr.write(`${error.message}\n`);
  }
  process.exit(EXIT_FAILED);
}
