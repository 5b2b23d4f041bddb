import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Path of the first of these programs that is on the PATH; null when none is. */
export async function findProgram(names: readonly string[]): Promise<string | null> {
  const directories = (process.env['PATH'] ?? '').split(delimiter).filter((path) => path !== '');
  for (const name of names) {
    for (const directory of directories) {
      const path = join(directory, name);
      const found = await access(path, constants.X_OK).then(
        () => true,
        () => false,
      );
      if (found) return path;
    }
  }
  return null;
}

/**
 * Installs a package with apt-get, after a notice that says what for; works as root on Debian or Ubuntu only, and not with
 * `--no-install` (`PHDS_NO_INSTALL`). Returns whether it is now installed. Services of the package are not started.
 */
export async function installPackage(
  name: string,
  purpose: string,
  notice: (text: string) => void,
): Promise<boolean> {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return false;
  if (process.env['PHDS_NO_INSTALL']) {
    notice(`${name} is missing and not installed (--no-install). It is needed for ${purpose}.`);
    return false;
  }
  notice(`${name} is missing. It is needed for ${purpose}. To refuse the installation, use --no-install.`);
  notice(`Installing it: apt-get install -y --no-install-recommends ${name}`);
  // Run level 1 keeps the package from starting its system service.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  const lock = ['-o', 'DPkg::Lock::Timeout=300'];
  const install = () => run('apt-get', [...lock, 'install', '-y', '--no-install-recommends', name], { env });
  try {
    await install().catch(async () => {
      await run('apt-get', [...lock, 'update'], { env });
      await install();
    });
    return true;
  } catch (error) {
    notice(`The installation failed: ${(error as Error).message.split('\n')[0]}`);
    return false;
  }
}
