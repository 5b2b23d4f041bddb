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
import type { KubernetesObject } from './objects.ts';

interface SchemaError {
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: object;
}

/** A validator that ajv has compiled from a published schema. */
type Validator = ((value: unknown) => boolean) & { readonly errors?: readonly SchemaError[] };

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
