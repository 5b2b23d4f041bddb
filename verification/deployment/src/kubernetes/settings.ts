import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SecretFiles } from '@phds/service-kit/keys/container-secrets';
import type { IContainer } from 'kubernetes-models/v1/Container';
import {
  configSchema as authorization,
  readEnvironment as readAuthorization,
} from '../../../../services/authorization/src/config.ts';
import {
  configSchema as consent,
  readEnvironment as readConsent,
} from '../../../../services/consent/src/config.ts';
import {
  configSchema as gateway,
  readEnvironment as readGateway,
} from '../../../../services/gateway/src/config.ts';
import {
  configSchema as healthData,
  readEnvironment as readHealthData,
} from '../../../../services/health-data/src/config.ts';
import { getObject, type KubernetesObject, type Workload } from './objects.ts';

/** The services, with the schema of their settings. */
export const SERVICES = [
  { service: 'gateway', schema: gateway, readEnvironment: readGateway },
  { service: 'authorization', schema: authorization, readEnvironment: readAuthorization },
  { service: 'consent', schema: consent, readEnvironment: readConsent },
  { service: 'health-data', schema: healthData, readEnvironment: readHealthData },
] as const;

/** The environment of a container, as the cluster makes it of literal values and of ConfigMaps. */
export function toEnvironment(
  objects: readonly KubernetesObject[],
  container: IContainer,
): Record<string, string> {
  const { env = [], envFrom = [] } = container;
  const maps = envFrom.map(
    ({ configMapRef }) => getObject(objects, 'ConfigMap', configMapRef?.name ?? '').data,
  );
  const literal = env.map(({ name, value }) => {
    if (value === undefined) throw new Error(`${name} of ${container.name} has no literal value`);
    return [name, value] as const;
  });
  return Object.assign({}, ...maps, Object.fromEntries(literal));
}

/** A secret in a container: where its files are. */
interface SecretMount {
  readonly secret: string;
  readonly path: string;
}

/** The secrets that a container mounts. */
export function secretMountsOf({ template }: Workload, container: IContainer): SecretMount[] {
  const volumes = template.spec?.volumes ?? [];
  return (container.volumeMounts ?? []).flatMap(({ name, mountPath }) => {
    const secret = volumes.find((volume) => volume.name === name)?.secret?.secretName;
    return secret === undefined ? [] : [{ secret, path: mountPath }];
  });
}

/** Writes the files of mounted secrets below a directory, and lets the environment name them there. */
export function placeSecrets(
  environment: Readonly<Record<string, string>>,
  mounts: readonly SecretMount[],
  secrets: SecretFiles,
  directory: string,
): Record<string, string> {
  for (const { secret, path } of mounts) {
    for (const [name, content] of Object.entries(secrets[secret] ?? {})) {
      const file = join(directory, path, name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content);
    }
  }
  return Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [
      name,
      mounts.some(({ path }) => value.startsWith(`${path}/`)) ? join(directory, value) : value,
    ]),
  );
}
