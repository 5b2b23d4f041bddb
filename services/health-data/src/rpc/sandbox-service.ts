import { type Category, isCategory } from '@phds/catalog/categories';
import { SandboxDataChange, SandboxService } from '@phds/contracts/phds/healthdata/v1/sandbox_pb';
import type { Turns } from '@phds/service-kit/batcher';
import { invalidRequest } from '@phds/service-kit/errors';
import { isId } from '@phds/service-kit/ids';
import { implement } from '@phds/service-kit/rpc/service';
import { changeData, createPreparation, type DataTrigger, type SandboxParts } from '../sandbox.ts';

/** phds.healthdata.v1.SandboxService. Registered in a sandbox deployment only. */
export function createSandboxService(parts: SandboxParts, turns: Turns) {
  const prepare = createPreparation(parts, turns);
  return implement(
    SandboxService,
    {
      async preparePerson({ userId }) {
        if (userId === '') throw invalidRequest('userId', 'is required');
        await prepare(userId);
        return {};
      },
      async changeData({ userId, clientId, change, categories }) {
        const trigger = TRIGGERS[change];
        if (trigger === null) throw invalidRequest('change', 'is missing or unknown');
        if (userId === '' || !isId('app', clientId)) throw invalidRequest('clientId', 'must be an app');
        const who = { userId, clientId };
        return (await changeData(parts, who, trigger, parseCategories(categories))) ?? {};
      },
    },
    { preparePerson: ['gateway'], changeData: ['gateway'] },
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
  const [first, ...rest] = names.filter(isCategory);
  if (first === undefined) throw invalidRequest('categories', 'is required');
  return [first, ...rest];
}
