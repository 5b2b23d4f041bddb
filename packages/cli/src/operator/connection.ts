import { randomUUID } from 'node:crypto';
import type { DescService } from '@bufbuild/protobuf';
import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import { AppError, notFound } from '@phds/service-kit/errors';
import { REASON_METADATA, REQUEST_ID_METADATA } from '@phds/service-kit/rpc/context';
import {
  ConfigError,
  durationMs,
  privateKey,
  readConfig,
  requiredAddress,
} from '@phds/service-kit/settings/config';
import { tlsSettings } from '@phds/service-kit/settings/settings';
import { CALLER_NAME, toOperatorCaller } from '@phds/service-kit/trust/callers';
import { z } from 'zod';
import { EXIT_DONE, EXIT_FAILED, type Surroundings, toJson } from '../commands/command.ts';
import { openChannelsAs } from '../connection.ts';

/** The services that operators call, with the setting for the `host:port` of each service's rpc. */
export const ADDRESSES = {
  authorization: 'AUTHORIZATION_ADDRESS',
  consent: 'CONSENT_ADDRESS',
  'health-data': 'HEALTH_DATA_ADDRESS',
} as const;

export type OperatedService = keyof typeof ADDRESSES;

/** Services, called as an operator. */
export interface OperatorConnection extends Disposable {
  client<Service extends DescService>(service: OperatedService, descriptor: Service): Client<Service>;
}

const operatorName = () =>
  z
    .string({ error: 'must be set' })
    .regex(CALLER_NAME, 'must be the name of an operator, in lower case')
    .meta({ unit: 'name' });

const callerSettings = {
  OPERATOR_NAME: operatorName().describe('`kid` of the key, without `operator:`.'),
  SERVICE_PRIVATE_KEY: privateKey('must be set').describe("The operator's key."),
  OPERATOR_DEADLINE_MS: durationMs(60_000).describe('Maximum duration of one call.'),
  ...tlsSettings,
};

/** The settings of the commands that call these services. */
export function operatorSettings(services: readonly OperatedService[]) {
  const addresses = services.map(
    (service) => [ADDRESSES[service], requiredAddress().describe(`gRPC port of ${service}.`)] as const,
  );
  return z.object<Settings>({ ...callerSettings, ...(Object.fromEntries(addresses) as Addresses) });
}

type Addresses = Record<(typeof ADDRESSES)[OperatedService], ReturnType<typeof requiredAddress>>;
type Settings = typeof callerSettings & Addresses;

/**
 * Opens connections to these services as configured in the environment, without calling them. `reason` is why the operator calls; empty
 * for calls that only read. Throws a ConfigError that names missing settings.
 */
export function openOperator(
  env: NodeJS.ProcessEnv,
  services: readonly OperatedService[],
  reason: string,
): OperatorConnection {
  const config = readConfig(operatorSettings(services), env);
  const open = openChannelsAs(toOperatorCaller(config.OPERATOR_NAME), config);
  const metadata = {
    [REASON_METADATA]: encodeURIComponent(reason),
    // One for all calls of the command, so that the record shows what belongs together.
    [REQUEST_ID_METADATA]: randomUUID(),
  };
  const resources = new DisposableStack();
  return {
    client(service, descriptor) {
      const channel = open({
        address: config[ADDRESSES[service]],
        audience: service,
        deadlineMs: config.OPERATOR_DEADLINE_MS,
        metadata,
      });
      return resources.use(channel).client(descriptor);
    },
    [Symbol.dispose]: () => resources.dispose(),
  };
}

/** Explains an error of a call in one sentence for the terminal. Rethrows internal errors, whose stack is needed. */
export function explainCall(error: unknown, service: OperatedService, caller = 'an operator'): string {
  if (error instanceof ConfigError) return error.message;
  if (!(error instanceof AppError)) throw error;
  if (error.reason === 'unavailable') {
    // An answer of the service has no cause here; a lost connection has.
    return error.cause === undefined
      ? `${service} answers that it cannot work now: its database or a service that it needs does not answer, such as consent, which records what operators do. Its log names the cause.`
      : `${service} does not answer.`;
  }
  if (error.reason === 'caller_not_admitted') {
    return `${service} does not admit this caller: the key is not one of ${caller} that it knows, the operator does not have the role, or the clock here is over a minute ahead.`;
  }
  if (error.reason === 'not_found') {
    return error.message === notFound().message ? `${service} does not know this id.` : error.message;
  }
  return `${service} refused (${error.reason})${error.message === '' ? '' : `: ${error.message}`}`;
}

export type OperatorSurroundings = Surroundings<OperatorConnection>;

/** Entries on one page. */
export const PAGE_SIZE = 100;

/** Calls a service, and prints what `run` returns or explains the error. Returns the exit code. */
export async function callAsOperator<Service extends DescService>(
  [service, descriptor]: readonly [OperatedService, Service],
  json: boolean,
  surroundings: OperatorSurroundings,
  run: (client: Client<Service>) => Promise<string>,
): Promise<number> {
  try {
    using connection = surroundings.connect();
    surroundings.output.write(await run(connection.client(service, descriptor)));
    return EXIT_DONE;
  } catch (error) {
    return reportFailedCall(error, service, json, surroundings);
  }
}

/** Prints why a call of this service failed. Returns the exit code. */
export function reportFailedCall(
  error: unknown,
  service: OperatedService,
  json: boolean,
  { output, errors }: Pick<OperatorSurroundings, 'output' | 'errors'>,
): number {
  const failure = explainCall(error, service);
  if (json) output.write(toJson({ error: failure }));
  errors.write(`${failure}\n`);
  return EXIT_FAILED;
}

export function toInstant(time: Timestamp | undefined): string {
  return time === undefined ? '' : timestampDate(time).toISOString();
}
