import type { DescEnum, MessageInitShape } from '@bufbuild/protobuf';
import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import { ConsentService } from '@phds/contracts/phds/consent/v1/consent_pb';
import { LedgerService, type LivenessCheckSchema } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { batchingCalls, SHORT_READS } from '@phds/service-kit/batcher';
import type { Clock } from '@phds/service-kit/clock';
import { AppError } from '@phds/service-kit/errors';
import { openRpcChannel, repeatIfLost, toRpcChannelOptions } from '@phds/service-kit/rpc/client';
import { SESSION_METADATA } from '@phds/service-kit/rpc/context';
import { createOperatorRecordClient } from '@phds/service-kit/rpc/operator-acts';
import type { Reloads } from '@phds/service-kit/settings/reload';
import type { Metrics } from '@phds/service-kit/telemetry/metrics';
import type { Config } from '../config.ts';

/** What the rpc accepts. */
const MAX_CHECKS = 64;

/** The subjects of a liveness check; empty ones are not checked. */
export type LivenessQuery = MessageInitShape<typeof LivenessCheckSchema>;

export type Consent = ReturnType<typeof connectConsent>;

/** Consent's ledger, the authority on what is live. Every rpc is idempotent. */
export type ConsentLedger = Consent['ledger'];

/** Typed clients of consent, over one channel. */
export function connectConsent(
  config: Config,
  context: {
    readonly clock: Clock;
    readonly metrics: Metrics;
    readonly reloads: Reloads;
  },
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
  return {
    ledger: {
      ...ledger,
      /** Checks at the same time share calls. */
      checkLiveness: batchingCalls(
        async (checks: readonly LivenessQuery[]) =>
          (await repeatIfLost(() => ledger.checkLivenesses({ checks: [...checks] }))).results,
        { ...SHORT_READS, maxCost: MAX_CHECKS },
      ),
    },
    consent: channel.client(ConsentService),
    operatorRecord: createOperatorRecordClient(channel),
  };
}

/** For calls on behalf of a person, whose session consent verifies itself. */
export function withSession(session: string) {
  return { headers: { [SESSION_METADATA]: session } };
}

/** A time that consent has to send. */
export function toDate(time: Timestamp | undefined): Date {
  if (time !== undefined) return timestampDate(time);
  throw new AppError('internal', '', { cause: 'consent sent no time' });
}

/** The name in lower case of a member of an enum that consent has to send. */
export function toName<Name extends string>({ typeName, values }: DescEnum, value: number): Name {
  const member = value === 0 ? undefined : values.find(({ number }) => number === value);
  if (member !== undefined) return member.localName.toLowerCase() as Name;
  throw new AppError('internal', '', { cause: `consent sent ${typeName} ${value}` });
}
