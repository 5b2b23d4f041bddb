import { APP_LOCK_KINDS, type AppLockKind } from '@phds/catalog/wire-names';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type AppAction, listApps, runOnApp } from './commands/apps.ts';
import { changeDevelopers, listDevelopers } from './commands/developers.ts';
import type { Finish } from './commands/exit-codes.ts';
import { openOperator } from './operator/connection.ts';
import { jsonOption, parseNotEmpty, parsePage, userOption } from './options.ts';

const streams = { output: process.stdout, errors: process.stderr };

const DESCRIPTIONS: Readonly<Record<AppAction, string>> = {
  show: 'Prints an app, with its developer and why it is locked.',
  suspend:
    'Suspends an app at once. Its developer sees the reason and cannot lift this; repeat it to change the reason.',
  resume: 'Lifts the suspension; tokens that have not expired work again.',
  approve: 'Lets people see a new app that waits for an approval.',
};

/** Adds `phds apps`. */
export function addApps(program: Command, finish: Finish): void {
  const surroundings = { ...streams, connect: () => openOperator(process.env, ['authorization']) };
  const apps = program.command('apps').description('Shows, suspends, resumes and approves apps.');
  apps
    .command('list')
    .description('Lists the apps of all developers, newest first, a hundred on a page.')
    .addOption(new Option('--owner <id>', 'only apps of this developer').argParser(parseNotEmpty))
    .addOption(
      new Option('--locked <why>', 'only apps that are locked for this reason').choices(APP_LOCK_KINDS),
    )
    .addOption(new Option('--page <n>', 'which page').argParser(parsePage).default(1))
    .addOption(jsonOption('the page'))
    .action(async ({ owner, locked, page, json }: ListOptions) =>
      finish(await listApps({ ownerId: owner ?? '', lockKind: locked ?? null, page, json }, surroundings)),
    );
  for (const [name, description] of Object.entries(DESCRIPTIONS)) {
    const action = name as AppAction;
    const command = apps
      .command(action)
      .description(description)
      .argument('<client-id>', 'the app', parseNotEmpty)
      .addOption(jsonOption('the app'));
    if (action === 'suspend') {
      command.addOption(
        new Option('--reason <text>', 'what the developer is told')
          .argParser(parseNotEmpty)
          .makeOptionMandatory(),
      );
    }
    if (action === 'approve') {
      command.addOption(
        new Option(
          '--seen <time>',
          'the time after `updated` in `show`, so that only what you have seen is approved',
        )
          .argParser(parseTime)
          .makeOptionMandatory(),
      );
    }
    command.action(
      async (clientId: string, { json, ...choices }: { reason?: string; seen?: Date; json: boolean }) =>
        finish(await runOnApp({ action, clientId, choices, json }, surroundings)),
    );
  }
}

/** Adds `phds developers`. */
export function addDevelopers(program: Command, finish: Finish): void {
  const surroundings = { ...streams, connect: () => openOperator(process.env, ['authorization']) };
  const developers = program
    .command('developers')
    .description('The people who may register apps, where DEVELOPERS is `listed`.');
  developers
    .command('list')
    .description('Lists them by user id, a hundred on a page.')
    .addOption(new Option('--page <n>', 'which page').argParser(parsePage).default(1))
    .addOption(jsonOption('the page'))
    .action(async ({ page, json }: { page: number; json: boolean }) =>
      finish(await listDevelopers({ page, json }, surroundings)),
    );
  for (const action of ['add', 'remove'] as const) {
    developers
      .command(action)
      .description(
        action === 'add' ? 'Lets a person register apps.' : 'No longer lets a person register apps.',
      )
      .addOption(userOption('the person'))
      .addOption(jsonOption('the person'))
      .action(async ({ user: userId, json }: { user: string; json: boolean }) =>
        finish(await changeDevelopers({ action, userId, json }, surroundings)),
      );
  }
}

interface ListOptions {
  readonly owner?: string;
  readonly locked?: AppLockKind;
  readonly page: number;
  readonly json: boolean;
}

function parseTime(value: string): Date {
  const time = new Date(value);
  if (Number.isNaN(time.getTime())) throw new InvalidArgumentError('It must be a time.');
  return time;
}
