import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repositoryRoot } from '@phds/local-stack/data-directory';

const run = promisify(execFile);

/** A revision of this repository in a temporary directory, with its own dependencies. */
export interface Checkout extends AsyncDisposable {
  readonly directory: string;
  readonly revision: string;
}

/** Checks a revision out and installs what it needs. Throws if the revision is not in the history. */
export async function checkOut(revision: string, say: (line: string) => void): Promise<Checkout> {
  const { stdout } = await git(['rev-parse', '--short', '--verify', `${revision}^{commit}`]).catch(() => {
    throw new Error(`the history has no commit ${revision}: a shallow clone? (git fetch --unshallow)`);
  });
  const name = stdout.trim();
  const directory = await mkdtemp(join(tmpdir(), `phds-${name}-`));
  const remove = () => rm(directory, { recursive: true, force: true, maxRetries: 3 });
  try {
    say(`checking ${name} out and installing its dependencies`);
    await run('git', ['clone', '--quiet', '--shared', '--no-checkout', repositoryRoot, directory]);
    await run('git', ['checkout', '--quiet', '--detach', name], { cwd: directory });
    const manager = (await import(join(directory, 'package.json'), { with: { type: 'json' } })).default;
    await run('npx', ['-y', manager.packageManager, 'install', '--frozen-lockfile', '--prefer-offline'], {
      cwd: directory,
      env: { ...process.env, CI: 'true' },
    });
    // Releases before the step `generate` commit everything but the database clients.
    const generate = 'generate' in manager.scripts ? 'generate' : 'gen:prisma';
    await run('npx', ['-y', manager.packageManager, 'run', generate], { cwd: directory });
  } catch (error) {
    await remove();
    throw error;
  }
  return { directory, revision: name, [Symbol.asyncDispose]: remove };
}

/** The name of a service's last migration, and the revision before the commit that added it. */
export async function findLastMigration(service: string): Promise<{ name: string; before: string }> {
  const path = join('services', service, 'prisma/migrations');
  const entries = await readdir(join(repositoryRoot, path), { withFileTypes: true });
  const name = entries
    .flatMap((each) => (each.isDirectory() ? [each.name] : []))
    .toSorted()
    .at(-1);
  if (name === undefined) throw new Error(`${service} has no migrations`);
  const { stdout } = await git(['log', '--diff-filter=A', '--format=%H', '-1', '--', join(path, name)]);
  if (stdout.trim() === '') throw new Error(`${path}/${name} is not committed`);
  return { name, before: `${stdout.trim()}^` };
}

/** Gives a checkout the migrations of this one, without those named. */
export async function giveMigrations(
  { directory }: Checkout,
  service: string,
  { without }: { readonly without?: string } = {},
): Promise<void> {
  const path = join('services', service, 'prisma/migrations');
  await rm(join(directory, path), { recursive: true });
  await cp(join(repositoryRoot, path), join(directory, path), { recursive: true });
  if (without !== undefined) await rm(join(directory, path, without), { recursive: true });
}

function git(words: readonly string[]) {
  return run('git', words, { cwd: repositoryRoot });
}
