import type { Client } from '@connectrpc/connect';
import type { SandboxService } from '@phds/contracts/phds/consent/v1/sandbox_pb';
import { AppError } from '@phds/service-kit/errors';
import type { SandboxApprovals } from '../app/sandbox-ports.ts';
import { fromApprovalMessage } from './consent-messages.ts';

/** Consent's decisions of sandbox people over rpc. */
export function createRpcSandboxApprovals(client: Client<typeof SandboxService>): SandboxApprovals {
  return {
    async approve(clientId, id, person) {
      const { approval } = await client.approveInSandbox({ clientId, id, person });
      if (approval === undefined) throw new AppError('internal', '', { cause: 'consent sent no approval' });
      return fromApprovalMessage(approval);
    },
    async deny(clientId, id) {
      await client.denyInSandbox({ clientId, id });
    },
  };
}
