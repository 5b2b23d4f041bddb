import { ConsentService } from '@phds/contracts/phds/consent/v1/consent_pb';
import { LedgerService } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { SandboxService } from '@phds/contracts/phds/consent/v1/sandbox_pb';
import type { Clock } from '@phds/service-kit/clock';
import { openRpcChannel } from '@phds/service-kit/rpc-client';
import { toRpcChannelOptions } from '@phds/service-kit/service-options';
import type { Metrics } from '@phds/telemetry/metrics';
import type { Config } from '../config.ts';
import { createRpcConsentApprovals } from './rpc-consent-approvals.ts';
import { createRpcConsentGrants } from './rpc-consent-grants.ts';
import { createRpcConsentLedger } from './rpc-consent-ledger.ts';
import { createRpcSandboxApprovals } from './rpc-sandbox-approvals.ts';

/** Typed clients of consent, over one channel. */
export function connectConsent(
  config: Config,
  { clock, metrics }: { readonly clock: Clock; readonly metrics: Metrics },
  resources: AsyncDisposableStack,
) {
  const channel = resources.use(
    openRpcChannel({
      ...toRpcChannelOptions(config, { service: 'authorization', clock, metrics }),
      address: config.CONSENT_ADDRESS,
      audience: 'consent',
      deadlineMs: config.CONSENT_DEADLINE_MS,
    }),
  );
  return {
    ledger: createRpcConsentLedger(channel.client(LedgerService)),
    approvals: createRpcConsentApprovals(channel.client(ConsentService)),
    grants: createRpcConsentGrants(channel.client(ConsentService)),
    sandboxApprovals: createRpcSandboxApprovals(channel.client(SandboxService)),
  };
}
