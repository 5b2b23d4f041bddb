import { type Category, isCategory } from '@phds/catalog/categories';
import { SandboxDataChange, SandboxService } from '@phds/contracts/phds/healthdata/v1/sandbox_pb';
import { invalidRequest } from '@phds/service-kit/errors';
import type { FairTurns } from '@phds/service-kit/fair-turns';
import { implement } from '@phds/service-kit/rpc/service';
import { changeData, type DataTrigger } from '../app/sandbox-changes.ts';
import { erasePeople, type SandboxPorts, sharePreparations } from '../app/sandbox-people.ts';

const GATEWAY = ['gateway'];

/** phds.healthdata.v1.SandboxService. */
export function createSandboxService(ports: SandboxPorts, turns: Pick<FairTurns, 'take'>) {
  const prepare = sharePreparations(ports, turns);
  return implement(
    SandboxService,
    {
      async prepareSandboxPerson({ userId }) {
        await prepare(userId);
        return {};
      },
      async changeSandboxData({ userId, change, categories }) {
        const trigger = TRIGGERS[change];
        if (trigger === null) throw invalidRequest('change', 'is missing or unknown');
        return { changed: await changeData(ports, userId, trigger, parseCategories(categories)) };
      },
      async eraseSandboxPeople({ clientId }) {
        return { people: await erasePeople(ports, clientId) };
      },
    },
    { prepareSandboxPerson: GATEWAY, changeSandboxData: GATEWAY, eraseSandboxPeople: GATEWAY },
  );
}

const TRIGGERS: Readonly<Record<SandboxDataChange, DataTrigger | null>> = {
  [SandboxDataChange.UNSPECIFIED]: null,
  [SandboxDataChange.ARRIVE]: 'arrive',
  [SandboxDataChange.CORRECT]: 'correct',
  [SandboxDataChange.DELETE]: 'delete',
};

function parseCategories(names: readonly string[]): [Category, ...Category[]] {
  const unknown = names.filter((name) => !isCategory(name));
  if (unknown.length > 0) throw invalidRequest('categories', `unknown: ${unknown.join(', ')}`);
  const [first = 'heart', ...rest] = names.filter(isCategory);
  return [first, ...rest];
}
