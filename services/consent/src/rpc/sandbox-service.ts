import { SandboxGrantChange, SandboxService } from '@phds/contracts/phds/consent/v1/sandbox_pb';
import { invalidRequest } from '@phds/service-kit/errors';
import type { UserOf } from '@phds/service-kit/rpc/context';
import { implement } from '@phds/service-kit/rpc/service';
import type { GrantTrigger, Sandbox } from '../sandbox.ts';
import { parseKnownId } from './parameters.ts';

/** phds.consent.v1.SandboxService. Registered in a sandbox deployment only. */
export function createSandboxService({ sandbox, userOf }: { sandbox: Sandbox; userOf: UserOf }) {
  const toNamed = (ownerId: string, request: { clientId: string; grantId: string }) => ({
    ownerId,
    clientId: parseKnownId('app', request.clientId),
    grantId: parseKnownId('grt', request.grantId),
  });
  return implement(
    SandboxService,
    {
      async findSandboxGrant(request, context) {
        const { userId, scopes } = await sandbox.find(toNamed(await userOf(context), request));
        return { userId, scopes: [...scopes] };
      },
      async changeSandboxGrant(request, context) {
        const named = toNamed(await userOf(context), request);
        const trigger = TRIGGERS[request.change];
        if (trigger === null) throw invalidRequest('change', 'is missing or unknown');
        return sandbox.change(named, trigger);
      },
    },
    {
      findSandboxGrant: ['gateway'],
      changeSandboxGrant: ['gateway'],
    },
  );
}

const TRIGGERS: Readonly<Record<SandboxGrantChange, GrantTrigger | null>> = {
  [SandboxGrantChange.UNSPECIFIED]: null,
  [SandboxGrantChange.NARROW]: 'narrow',
  [SandboxGrantChange.REVOKE]: 'revoke',
  [SandboxGrantChange.EXPIRE]: 'expire',
};
