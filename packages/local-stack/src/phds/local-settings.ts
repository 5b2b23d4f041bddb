import { ADDRESSES, type OperatedService } from '@phds/cli/operator/connection';
import { LOCAL_OPERATOR, toKeyFiles } from '@phds/service-kit/keys/key-files';
import type { StackDescription } from '../data-directory.ts';

type Settings = Readonly<Record<string, string>>;

/** A kind of command: the settings that select its service, with their values for the local stack. */
interface Target {
  readonly commands: readonly string[];
  readonly required: readonly string[];
  toSettings(stack: StackDescription): Settings;
}

/** The commands that call these services as an operator. */
function calledByOperators(commands: readonly string[], services: readonly OperatedService[]): Target {
  return {
    commands,
    required: [...services.map((service) => ADDRESSES[service]), 'OPERATOR_NAME', 'SERVICE_PRIVATE_KEY'],
    toSettings: ({ rpcAddresses, keys }) => ({
      ...Object.fromEntries(services.map((service) => [ADDRESSES[service], rpcAddresses[service]])),
      OPERATOR_NAME: LOCAL_OPERATOR,
      SERVICE_PRIVATE_KEY_FILE: toKeyFiles(keys).servicePrivateKeys.operator,
    }),
  };
}

const OPERATING_CONSENT = calledByOperators(
  ['audit', 'people', 'grants', 'sessions', 'webhooks'],
  ['consent'],
);

const TARGETS: readonly Target[] = [
  {
    commands: ['import', 'imports'],
    required: ['HEALTH_DATA_ADDRESS', 'SERVICE_PRIVATE_KEY'],
    toSettings: ({ rpcAddresses, keys }) => ({
      HEALTH_DATA_ADDRESS: rpcAddresses['health-data'],
      SERVICE_PRIVATE_KEY_FILE: toKeyFiles(keys).servicePrivateKeys.importer,
    }),
  },
  {
    commands: ['service-token'],
    required: ['SERVICE_PRIVATE_KEY'],
    toSettings: ({ keys }) => ({
      SERVICE_PRIVATE_KEY_FILE: toKeyFiles(keys).servicePrivateKeys['example-service'],
    }),
  },
  calledByOperators(['erase'], ['authorization', 'consent', 'health-data']),
  calledByOperators(['restore'], ['authorization', 'consent']),
  calledByOperators(['apps', 'developers'], ['authorization']),
  OPERATING_CONSENT,
  {
    commands: ['records'],
    required: ['RECORDS_DATABASE_URL', 'RECORDS_PUBLIC_KEYS'],
    toSettings: (stack) => ({
      ...OPERATING_CONSENT.toSettings(stack),
      RECORDS_DATABASE_URL_FILE: toKeyFiles(stack.keys).databaseUrls.consent,
      RECORDS_PUBLIC_KEYS_FILE: toKeyFiles(stack.keys).receiptPublicKeys,
    }),
  },
];

/** A deployment that the environment names only in part. */
export class IncompleteDeployment extends Error {
  constructor(given: readonly string[], missing: readonly string[]) {
    super(
      `The environment sets ${given.join(', ')}, so the command works with that deployment and not with the local stack. ` +
        `It also needs ${missing.join(', ')}. For the local stack, unset ${given.join(', ')}.`,
    );
    this.name = 'IncompleteDeployment';
  }
}

/** Each of these names a deployment, whichever command needs it. The name of the operator does not. */
const OF_DEPLOYMENTS = [
  ...new Set([...TARGETS.flatMap(({ required }) => required), 'TLS_CA', 'TLS_CERT', 'TLS_KEY']),
].filter((name) => name !== 'OPERATOR_NAME');

/**
 * The settings of a command for the local stack. Empty when the environment names a deployment, so that a command never mixes both;
 * throws IncompleteDeployment when it names a part of one. Null when the local stack is needed but not running.
 */
export function findLocalSettings(
  command: string,
  env: NodeJS.ProcessEnv,
  findStack: () => StackDescription | null,
): Settings | null {
  const target = TARGETS.find(({ commands }) => commands.includes(command));
  if (target === undefined) return {};
  const isSet = (name: string) => Boolean(env[name] || env[`${name}_FILE`]);
  const given = OF_DEPLOYMENTS.filter(isSet);
  const missing = target.required.filter((name) => !isSet(name));
  if (given.length > 0 && missing.length > 0) throw new IncompleteDeployment(given, missing);
  if (given.length > 0) return {};
  const stack = findStack();
  return stack === null ? null : target.toSettings(stack);
}
