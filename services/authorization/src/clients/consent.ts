import { ConsentService } from '@phds/contracts/phds/consent/v1/consent_pb';
import { LedgerService } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { SandboxService } from '@phds/contracts/phds/consent/v1/sandbox_pb';
import type { Clock } from '@phds/service-kit/clock';
import { openCallStreams } from '@phds/service-kit/rpc/call-streams';
import { openRpcChannel } from '@phds/service-kit/rpc/client';
import { createStreamedCalls } from '@phds/service-kit/rpc/streamed-calls';
import { toRpcChannelOptions } from '@phds/service-kit/settings/service-options';
import type { Logger } from '@phds/service-kit/telemetry/log';
import type { Metrics } from '@phds/service-kit/telemetry/metrics';
import type { Config } from '../config.ts';
import { createRpcConsentApprovals } from './rpc-consent-approvals.ts';
import { createRpcConsentGrants } from './rpc-consent-grants.ts';
import { createRpcConsentLedger } from './rpc-consent-ledger.ts';
import { createRpcSandboxApprovals } from './rpc-sandbox-approvals.ts';

/** Typed clients of consent, over one channel and a stream of liveness checks to each replica. */
export function connectConsent(
  config: Config,
  context: { readonly clock: Clock; readonly log: Logger; readonly metrics: Metrics },
  resources: AsyncDisposableStack,
) {
  const { CONSENT_ADDRESS: address, CONSENT_DEADLINE_MS: deadlineMs } = config;
  const options = {
    ...toRpcChannelOptions(config, { service: 'authorization', ...context }),
    address,
    audience: 'consent',
    deadlineMs,
  };
  const channel = resources.use(openRpcChannel(options));
  const ledger = channel.client(LedgerService);
  const { checkLivenesses: method, checkLivenessBatches } = LedgerService.method;
  const onFailure = (err: unknown) =>
    context.log.warn({ err }, 'no stream to consent; liveness is checked by unary calls');
  const streams = resources.use(
    openCallStreams({ ...options, method: checkLivenessBatches, carried: method, onFailure }),
  );
  const unary = ledger.checkLivenesses;
  return {
    ledger: createRpcConsentLedger(ledger, createStreamedCalls({ method, unary, streams, deadlineMs })),
    approvals: createRpcConsentApprovals(channel.client(ConsentService)),
    grants: createRpcConsentGrants(channel.client(ConsentService)),
    sandboxApprovals: createRpcSandboxApprovals(channel.client(SandboxService)),
  };
}
