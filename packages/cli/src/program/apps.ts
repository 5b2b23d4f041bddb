import { APP_LOCK_KINDS, type AppLockKind } from '@phds/catalog/wire-names';
import { type Command, Option } from 'commander';
import { type AppAction, changeDevelopers, listApps, listDevelopers, runOnApp } from '../commands/apps.ts';
import { listWebhooks, pauseWebhook, redeliverEvents } from '../commands/webhooks.ts';
import {
  addUserOptions,
  type ChangeOptions,
  chooseUser,
  jsonOption,
  pageOption,
  parseNotEmpty,
  reasonOption,
  timeOption,
} from '../options.ts';
import type { Surrounded } from './surroundings.ts';

const DESCRIPTIONS: Readonly<Record<AppAction, string>> = {
  show: 'Prints an app, with its developer and why it is locked.',
  suspend:
    'Suspends an app at once. Its developer sees the reason and cannot lift this; repeat it to change the reason.',
  resume: 'Lifts the suspension; tokens that have not expired work again.',
  approve: 'Lets people see a new app that waits for an approval.',
  transfer: 'Makes somebody else the developer of an app. The former one finds it no longer.',
};

/** Adds `phds apps`. */
export function addApps(program: Command, { finish, withServices }: Surrounded): void {
  const apps = program.command('apps').description('Shows, suspends, resumes and approves apps.');
  apps
    .command('list')
    .description('Lists the apps of all developers, newest first, a hundred on a page.')
    .addOption(new Option('--owner <id>', 'only apps of this developer').argParser(parseNotEmpty))
    .addOption(
      new Option('--locked <why>', 'only apps that are locked for this reason').choices(APP_LOCK_KINDS),
    )
    .addOption(pageOption())
    .addOption(jsonOption('the page'))
    .action(async ({ owner, locked, page, json }: ListOptions) =>
      finish(
        await listApps(
          { ownerId: owner ?? '', lockKind: locked ?? null, page, json },
          withServices(['authorization']),
        ),
      ),
    );
  for (const [name, description] of Object.entries(DESCRIPTIONS)) {
    const action = name as AppAction;
    const command = apps
      .command(action)
      .description(description)
      .argument('<client-id>', 'the app', parseNotEmpty)
      .addOption(jsonOption('the app'));
    if (action === 'suspend') {
      command.addOption(reasonOption('why; also what the developer is told'));
    } else if (action !== 'show') command.addOption(reasonOption());
    if (action === 'approve' || action === 'resume') {
      const seen = new Option(
        '--seen <fingerprint>',
        'what `show` printed as `seen`: no other settings pass',
      );
      command.addOption(seen.argParser(parseNotEmpty).makeOptionMandatory());
    }
    if (action === 'transfer') {
      const next = new Option('--to-user <id>', 'the next developer').argParser(parseNotEmpty);
      command.addOption(next.makeOptionMandatory());
    }
    command.action(
      async (
        clientId: string,
        { json, ...choices }: { reason?: string; seen?: string; toUser?: string; json: boolean },
      ) =>
        finish(
          await runOnApp(
            { action, clientId, choices, json },
            withServices(['authorization'], choices.reason),
          ),
        ),
    );
  }
}

interface ListOptions {
  readonly owner?: string;
  readonly locked?: AppLockKind;
  readonly page: number;
  readonly json: boolean;
}

/** Adds `phds developers`. */
export function addDevelopers(program: Command, { finish, withServices }: Surrounded): void {
  const developers = program
    .command('developers')
    .description('The people who may register apps, where DEVELOPERS is `listed`.');
  developers
    .command('list')
    .description('Lists them by user id, a hundred on a page.')
    .addOption(pageOption())
    .addOption(jsonOption('the page'))
    .action(async ({ page, json }: { page: number; json: boolean }) =>
      finish(await listDevelopers({ page, json }, withServices(['authorization']))),
    );
  for (const action of ['add', 'remove'] as const) {
    const change = developers
      .command(action)
      .description(
        action === 'add' ? 'Lets a person register apps.' : 'No longer lets a person register apps.',
      );
    addUserOptions(change, 'the person')
      .addOption(reasonOption())
      .addOption(jsonOption('the person'))
      .action(async ({ reason, json, ...user }: ChangeOptions, command: Command) => {
        const services = withServices(['authorization'], reason);
        finish(await changeDevelopers({ action, ...chooseUser(user, command), json }, services));
      });
  }
}

/** Adds `phds webhooks`. */
export function addWebhooks(program: Command, { finish, withServices }: Surrounded): void {
  const webhooks = program.command('webhooks').description('Shows, pauses and resumes webhooks.');
  webhooks
    .command('list')
    .description(
      'Lists the webhooks of all apps and of the deployment, those in trouble first, a hundred on a page.',
    )
    .addOption(pageOption())
    .addOption(jsonOption('the page'))
    .action(async (options: { page: number; json: boolean }) =>
      finish(await listWebhooks(options, withServices(['consent']))),
    );
  const change = (name: string, description: string) =>
    webhooks
      .command(name)
      .description(description)
      .argument('<client-id>', 'the app, or host:NAME', parseNotEmpty)
      .addOption(reasonOption())
      .addOption(jsonOption('the result'));
  type Options = { reason: string; json: boolean };
  change('pause', 'Sends nothing to a webhook; events wait. The developer of an app cannot lift it.').action(
    async (clientId: string, { reason, json }: Options) =>
      finish(await pauseWebhook({ clientId, isPaused: true, json }, withServices(['consent'], reason))),
  );
  change('resume', 'Sends events again, also those that waited.').action(
    async (clientId: string, { reason, json }: Options) =>
      finish(await pauseWebhook({ clientId, isPaused: false, json }, withServices(['consent'], reason))),
  );
  change('redeliver', 'Delivers the events again that were given up.')
    .addOption(
      timeOption(
        '--since <time>',
        'only events that were made since this time (RFC 3339)',
      ).makeOptionMandatory(),
    )
    .option('--delivered-too', 'also events that the receiver has accepted', false)
    .action(
      async (clientId: string, { reason, ...options }: Options & { since: Date; deliveredToo: boolean }) =>
        finish(await redeliverEvents({ clientId, ...options }, withServices(['consent'], reason))),
    );
}
