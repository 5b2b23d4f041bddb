import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from '@jest/globals';
import { repositoryRoot } from '@phds/house-rules/repository';
import { describeWith } from '@phds/test-kit/requirements';
import { shared } from '@phds/test-kit/shared';
import { canBoot, Machine } from '../src/systemd/machine.ts';

const run = promisify(execFile);
const SERVICES = ['gateway', 'authorization', 'consent', 'health-data'];

/** The values of this machine, in place of those of the page. */
const VALUES = `
ARCHIVE=/srv/release/phds-$VERSION.tar.gz
POSTGRES=postgresql://localhost:5432/phds
ADMINISTRATOR=postgresql://postgres:administrator@localhost:5432/phds
REDIS=redis://localhost:6379
PUBLIC_URL=http://localhost:8080
IDENTITY_PROVIDER=http://localhost:8090 SESSION_KEYS=http://localhost:8090/.well-known/jwks.json
`;

/** The commands of the page, in its order, with a line for each section that has any. */
function toScript(page: string): string {
  const [values = '', ...sections] = page.split(/^## /m).flatMap((section) => {
    const blocks = [...section.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block]) => block);
    return blocks.length === 0
      ? []
      : [`echo "# $EPOCHREALTIME ${section.split('\n')[0]}"\n${blocks.join('')}`];
  });
  return ['set -euo pipefail', values, VALUES, ...sections, 'echo "# $EPOCHREALTIME end"'].join('\n');
}

describeWith('systemd that can be booted by root', canBoot())('First deployment', () => {
  let machine: Machine;
  let printed = '';
  beforeAll(async () => {
    const work = await mkdtemp(join(tmpdir(), 'phds-machine-'));
    shared.defer(() => rm(work, { recursive: true, force: true }));
    await mkdir(join(work, 'files'));
    const release = join(work, 'files/release');
    await run('sh', ['deploy/release/build.sh', release], { cwd: repositoryRoot, maxBuffer: 2 ** 26 });
    machine = shared.use(await Machine.boot(work));
    const directory = join(repositoryRoot, 'verification/deployment/src/systemd');
    await machine.run(`sh ${directory}/surroundings.sh ${repositoryRoot}`);
    const page = await readFile(join(repositoryRoot, 'docs/operations/first-deployment.md'), 'utf8');
    printed = await machine.run(toScript(page));
  }, 1_500_000);

  test('the page leads from an archive to the first read of an app', () => {
    expect(printed).toMatch(/"value": ?72\b/);
  });

  test('each service has a user of its own, and a directory for the reports of fatal errors', async () => {
    const owners = await Promise.all(
      SERVICES.map(async (service) => {
        const script = `pid=$(systemctl show -P MainPID phds@${service})
          awk '/^Uid:/ { print $2 }' /proc/$pid/status; stat -Lc %u /var/log/phds/${service}`;
        return (await machine.run(script)).trim().split('\n');
      }),
    );
    for (const [user, owner] of owners) expect([Number(user) > 0, owner]).toEqual([true, user]);
    expect(new Set(owners.map(([user]) => user)).size).toBe(SERVICES.length);
  });

  test.each([
    ['phds@consent', 20],
    ['phds-migrate@consent', 65],
  ])('the unit %s is understood, and gives its process few rights', async (unit, exposure) => {
    await machine.run(
      `systemd-analyze verify --man=no --recursive-errors=no $(systemctl show -P FragmentPath ${unit})`,
    );
    await machine.run(`systemd-analyze security --threshold=${exposure} ${unit}`);
  });

  test('no service can read the secrets of another', async () => {
    const script = `pid() { systemctl show -P MainPID "phds@$1"; }
      root="/proc/$(pid consent)/root"
      key="$root/run/credentials/phds@consent.service/secrets_receipt.pem"
      as() { user=$(awk '/^Uid:/ { print $2 }' "/proc/$(pid "$1")/status"); setpriv --reuid $user --regid $user --clear-groups \\
        --no-new-privs --bounding-set=-all --inh-caps=-all head -c 27 "$key" 2>&1; }
      as consent; as gateway || true`;
    expect(await machine.run(script)).toMatch(/^-----BEGIN PRIVATE KEY-----head: .*: Permission denied\n$/);
  });

  test('a start fails when the service is not ready in time', async () => {
    const limit = '/run/systemd/system/phds@.service.d';
    const script = `mkdir -p ${limit}; printf '[Service]\\nTimeoutStartSec=8\\nRestart=no\\n' >${limit}/limit.conf
      systemctl daemon-reload; systemctl stop postgres; ! systemctl restart phds@health-data && systemctl is-failed phds@health-data`;
    expect(await machine.run(script)).toBe('failed\n');
  });
});
