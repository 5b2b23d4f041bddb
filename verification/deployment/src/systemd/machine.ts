import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repositoryRoot } from '@phds/house-rules/repository';
import { eventually } from '@phds/test-kit/conditions';

const run = promisify(execFile);

/** Whether this machine can boot one: as root, with systemd, namespaces and cgroups of version 2. */
export function canBoot(): boolean {
  return process.getuid?.() === 0 && existsSync('/lib/systemd/systemd') && existsSync('/usr/bin/unshare');
}

/** A machine under systemd, in namespaces of this one (boot.sh). */
export class Machine implements AsyncDisposable {
  readonly #process: ChildProcess;

  private constructor(booted: ChildProcess) {
    this.#process = booted;
  }

  /** Boots a machine, which finds the files of `work`/files in /srv. */
  static async boot(work: string): Promise<Machine> {
    const script = join(import.meta.dirname, 'boot.sh');
    const booted = spawn('sh', [script, work, repositoryRoot, process.execPath], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [booted.stdout, booted.stderr]) stream.on('data', (text) => (output += text));
    const machine = new Machine(booted);
    try {
      // Seconds; minutes where everything else runs too.
      const limits = { timeoutMs: 300_000, intervalMs: 200 };
      await eventually(() => machine.run('systemctl is-active basic.target'), limits);
      return machine;
    } catch (cause) {
      await machine[Symbol.asyncDispose]();
      throw new Error(`The machine does not boot: ${output}`, { cause });
    }
  }

  /** The first process of the machine, as this one sees it. */
  async #findInit(): Promise<string> {
    const { pid } = this.#process;
    const [init = ''] = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).split(' ');
    if ((await readFile(`/proc/${init}/comm`, 'utf8')) !== 'systemd\n')
      throw new Error('systemd does not run');
    return init;
  }

  /** Runs a script of bash as root. Returns what it prints; throws with everything that it printed. */
  async run(script: string): Promise<string> {
    const namespaces = ['--mount', '--uts', '--ipc', '--net', '--pid', '--cgroup', '--root'];
    const environment = ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', 'HOME=/root'];
    const shell = ['env', '-i', '--chdir=/', ...environment, 'bash', '-c', script];
    try {
      const options = { maxBuffer: 2 ** 26 };
      return (await run('nsenter', ['-t', await this.#findInit(), ...namespaces, ...shell], options)).stdout;
    } catch (error) {
      const { stdout, stderr } = error as { stdout: string; stderr: string };
      throw new Error(`${stdout.slice(-4000)}\n${stderr.slice(-4000)}`, { cause: error });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill('SIGKILL');
    // Groups can be removed when their processes have ended.
    const script = `for groups in $(awk '$3 == "cgroup2" { print $2 }' /proc/mounts); do
      if [ -d "$groups/phds-machine-$1" ]; then find "$groups/phds-machine-$1" -depth -type d -exec rmdir {} +; fi
    done`;
    await eventually(() => run('sh', ['-c', script, 'sh', String(this.#process.pid)]));
  }
}
