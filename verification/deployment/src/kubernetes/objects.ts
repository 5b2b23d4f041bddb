import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { PodMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PodMonitor';
import { PrometheusRule } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule';
import { repositoryRoot } from '@phds/house-rules/repository';
import { validate as deployment } from 'kubernetes-models/_schemas/IoK8sApiAppsV1Deployment';
import { validate as statefulSet } from 'kubernetes-models/_schemas/IoK8sApiAppsV1StatefulSet';
import { validate as autoscaler } from 'kubernetes-models/_schemas/IoK8sApiAutoscalingV2HorizontalPodAutoscaler';
import { validate as job } from 'kubernetes-models/_schemas/IoK8sApiBatchV1Job';
import { validate as configMap } from 'kubernetes-models/_schemas/IoK8sApiCoreV1ConfigMap';
import { validate as namespace } from 'kubernetes-models/_schemas/IoK8sApiCoreV1Namespace';
import { validate as secret } from 'kubernetes-models/_schemas/IoK8sApiCoreV1Secret';
import { validate as service } from 'kubernetes-models/_schemas/IoK8sApiCoreV1Service';
import { validate as ingress } from 'kubernetes-models/_schemas/IoK8sApiNetworkingV1Ingress';
import { validate as networkPolicy } from 'kubernetes-models/_schemas/IoK8sApiNetworkingV1NetworkPolicy';
import { validate as disruptionBudget } from 'kubernetes-models/_schemas/IoK8sApiPolicyV1PodDisruptionBudget';
import { validate as priorityClass } from 'kubernetes-models/_schemas/IoK8sApiSchedulingV1PriorityClass';
import type { IDeployment } from 'kubernetes-models/apps/v1/Deployment';
import type { IStatefulSet } from 'kubernetes-models/apps/v1/StatefulSet';
import type { IHorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler';
import type { IJob } from 'kubernetes-models/batch/v1/Job';
import type { INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import type { IConfigMap } from 'kubernetes-models/v1/ConfigMap';
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { IPodTemplateSpec } from 'kubernetes-models/v1/PodTemplateSpec';
import type { IService } from 'kubernetes-models/v1/Service';
import { parseAllDocuments } from 'yaml';

/** The directories of deploy/kubernetes that are applied. */
export const OVERLAYS = [
  'single-node',
  'single-node/migrations',
  'sandbox',
  'production',
  'production/migrations',
  'production/command',
  'production/person',
  'production/import',
] as const;

export type Overlay = (typeof OVERLAYS)[number];

/** The directory of the manifests. */
export const manifests = join(repositoryRoot, 'deploy/kubernetes');

/** Whether this machine can build manifests: kubectl 1.27 or later, for `describeWith`. */
export function hasKubectl(): boolean {
  const { status, stdout } = spawnSync('kubectl', ['version', '--client'], { encoding: 'utf8' });
  const [, minor] = /^Client Version: v1\.(\d+)/m.exec(stdout ?? '') ?? [];
  return status === 0 && Number(minor) >= 27;
}

const built = new Map<Overlay, readonly KubernetesObject[]>();

/** The objects of an overlay, built once as `kubectl apply --kustomize` does. */
export function build(overlay: Overlay): readonly KubernetesObject[] {
  const known = built.get(overlay);
  if (known !== undefined) return known;
  const objects = buildDirectory(join(manifests, overlay));
  built.set(overlay, objects);
  return objects;
}

/** The objects of a directory. A warning, such as of a deprecated field, is an error. */
export function buildDirectory(directory: string): KubernetesObject[] {
  const { status, stdout, stderr } = spawnSync('kubectl', ['kustomize', directory], { encoding: 'utf8' });
  if (status !== 0 || stderr !== '') throw new Error(`${directory}: ${stderr}`);
  return parseAllDocuments(stdout).map((document) => document.toJS() as KubernetesObject);
}

/** What every object of a build has. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

/** The kinds that tests check. Their fields are typed once `findSchemaProblems` has accepted the object. */
interface Kinds {
  readonly ConfigMap: IConfigMap;
  readonly Deployment: IDeployment;
  readonly HorizontalPodAutoscaler: IHorizontalPodAutoscaler;
  readonly Job: IJob;
  readonly NetworkPolicy: INetworkPolicy;
  readonly Service: IService;
  readonly StatefulSet: IStatefulSet;
}

/** The objects of one kind. */
export function ofKind<Kind extends keyof Kinds>(
  objects: readonly KubernetesObject[],
  kind: Kind,
): (KubernetesObject & Kinds[Kind])[] {
  return objects.filter((object) => object.kind === kind) as (KubernetesObject & Kinds[Kind])[];
}

/** The object of a kind with a name. Throws when there is none. */
export function getObject<Kind extends keyof Kinds>(
  objects: readonly KubernetesObject[],
  kind: Kind,
  name: string,
): KubernetesObject & Kinds[Kind] {
  const found = ofKind(objects, kind).find((object) => object.metadata.name === name);
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
  return found;
}

/** What makes pods: its name, and their template. */
export interface Workload {
  readonly kind: string;
  readonly name: string;
  readonly template: IPodTemplateSpec;
}

/** Everything that makes pods. */
export function listWorkloads(objects: readonly KubernetesObject[]): Workload[] {
  const makers = (['Deployment', 'StatefulSet', 'Job'] as const).flatMap((kind) =>
    ofKind<'Deployment' | 'StatefulSet' | 'Job'>(objects, kind),
  );
  return makers.map((maker) => {
    const template = maker.spec?.template;
    if (template === undefined) throw new Error(`${maker.kind} ${maker.metadata.name} has no pods`);
    return { kind: maker.kind, name: maker.metadata.name, template };
  });
}

/** The containers of a workload's pods. */
export function containersOf({ template }: Workload): readonly IContainer[] {
  return template.spec?.containers ?? [];
}

interface SchemaError {
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: object;
}

/** A validator that ajv has compiled from a published schema. */
type Validator = ((value: unknown) => boolean) & { readonly errors?: readonly SchemaError[] };

/** The validator of a package that exports no schemas, but classes that check themselves. */
function ofClass({ prototype }: { readonly prototype: { validate(): void } }): Validator {
  const validate: ((value: unknown) => boolean) & { errors?: readonly SchemaError[] } = (value) => {
    try {
      prototype.validate.call(value);
      return true;
    } catch (error) {
      validate.errors = (error as { readonly errors: readonly SchemaError[] }).errors;
      return false;
    }
  };
  return validate;
}

/** The schemas by version and kind. Versions that the API server no longer has are left out. */
const SCHEMAS: ReadonlyMap<string, Validator> = new Map([
  ['v1 ConfigMap', configMap],
  ['v1 Namespace', namespace],
  ['v1 Secret', secret],
  ['v1 Service', service],
  ['apps/v1 Deployment', deployment],
  ['apps/v1 StatefulSet', statefulSet],
  ['autoscaling/v2 HorizontalPodAutoscaler', autoscaler],
  ['batch/v1 Job', job],
  ['networking.k8s.io/v1 Ingress', ingress],
  ['networking.k8s.io/v1 NetworkPolicy', networkPolicy],
  ['policy/v1 PodDisruptionBudget', disruptionBudget],
  ['scheduling.k8s.io/v1 PriorityClass', priorityClass],
  ['monitoring.coreos.com/v1 PodMonitor', ofClass(PodMonitor)],
  ['monitoring.coreos.com/v1 PrometheusRule', ofClass(PrometheusRule)],
]);

/**
 * What the published schema of an object's kind refuses, unknown fields included. The schemas accept unknown fields, as the API server
 * does without strict validation. A compiled schema reads every field that it knows, so the fields that it has not read are unknown.
 */
export function findSchemaProblems(object: KubernetesObject): string[] {
  const name = `${object.apiVersion} ${object.kind}`;
  const validate = SCHEMAS.get(name);
  if (validate === undefined) return [`no schema of ${name}`];
  const unread = new Set<string>();
  const isValid = validate(observe(object, '', unread));
  const problems = (isValid ? [] : (validate.errors ?? [])).map(
    ({ instancePath, keyword, params }) => `${instancePath} ${keyword} ${JSON.stringify(params)}`,
  );
  return [...problems, ...[...unread].map((path) => `${path} is unknown`)];
}

/** The same value, whose fields leave `unread` when they are read. */
function observe(value: unknown, path: string, unread: Set<string>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const at = (key: string) => `${path}/${key}`;
  for (const key of Object.keys(value)) unread.add(at(key));
  const observed = new Map<string, unknown>();
  return new Proxy(value, {
    get(target, key, receiver) {
      const field: unknown = Reflect.get(target, key, receiver);
      if (typeof key !== 'string' || !Object.hasOwn(target, key)) return field;
      unread.delete(at(key));
      if (!observed.has(key)) observed.set(key, observe(field, at(key), unread));
      return observed.get(key);
    },
  });
}
