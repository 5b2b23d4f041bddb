import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
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
    await run('npx', ['-y', manager.packageManager, 'run', 'generate'], { cwd: directory });
  } catch (error) {
    await remove();
    throw error;
  }
  return { directory, revision: name, [Symbol.asyncDispose]: remove };
}

function git(words: readonly string[]) {
  return run('git', words, { cwd: repositoryRoot });
}
