import { readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { defaultDataDirectory, toDataDirectory } from './data-directory.ts';
import { isRunning } from './servers/process-identity.ts';

/** Addresses and key locations of a running stack for other programs. Contains no secret. */
export interface StackDescription {
  /** The process that runs the stack, in the form of `identifyProcess`, because process ids are reused. */
  readonly process: string;
  readonly startedAt: string;
  readonly gatewayUrls: readonly string[];
  readonly identityProviderUrl: string;
  /** `host:port` of each service's rpc. */
  readonly rpcAddresses: Readonly<Record<'authorization' | 'consent' | 'health-data', string>>;
  /** Base URL of each service's rpcs in the Connect protocol. */
  readonly internalUrls: Readonly<Record<'authorization' | 'consent' | 'health-data', string>>;
  /** Base URL of each service's /livez, /readyz and /metrics. */
  readonly probeUrls: Readonly<Record<'authorization' | 'consent' | 'health-data', string>>;
  /** The same of each gateway. */
  readonly gatewayProbeUrls: readonly string[];
  readonly keys: {
    readonly directory: string;
    /** Private key of the caller `importer` (PKCS #8 PEM). */
    readonly importerPrivateKey: string;
    /** Public keys of all callers (JWKS). */
    readonly servicePublicKeys: string;
  };
  readonly logs: string;
}

/** Writes the description. It is valid while the process runs. */
export async function writeStackFile(dataDirectory: string, description: StackDescription): Promise<void> {
  const { stackFile } = toDataDirectory(dataDirectory);
  await writeFile(stackFile, `${JSON.stringify(description, null, 2)}\n`);
}

export async function removeStackFile(dataDirectory: string): Promise<void> {
  await rm(toDataDirectory(dataDirectory).stackFile, { force: true });
}

/** The stack running on this data directory, or null. A description left behind by a killed run is ignored. */
export function findStackFile(dataDirectory: string = defaultDataDirectory): StackDescription | null {
  let text: string;
  try {
    text = readFileSync(toDataDirectory(dataDirectory).stackFile, 'utf8');
  } catch {
    return null;
  }
  const description = parseDescription(text);
  return description !== null && isRunning(description.process) ? description : null;
}

function parseDescription(text: string): StackDescription | null {
  try {
    const parsed = JSON.parse(text) as Partial<StackDescription> | null;
    return typeof parsed?.process === 'string' && parsed.gatewayUrls !== undefined
      ? (parsed as StackDescription)
      : null;
  } catch {
    return null;
  }
}
