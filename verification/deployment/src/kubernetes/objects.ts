import type { IDeployment } from 'kubernetes-models/apps/v1/Deployment';
import type { IStatefulSet } from 'kubernetes-models/apps/v1/StatefulSet';
import type { IHorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler';
import type { IJob } from 'kubernetes-models/batch/v1/Job';
import type { INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import type { IPodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import type { IConfigMap } from 'kubernetes-models/v1/ConfigMap';
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { IPodTemplateSpec } from 'kubernetes-models/v1/PodTemplateSpec';
import type { IService } from 'kubernetes-models/v1/Service';

/** What every object of a build has. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
}

/** The kinds that tests check. Their fields are typed once `schemas.ts` has accepted the object. */
interface Kinds {
  readonly ConfigMap: IConfigMap;
  readonly Deployment: IDeployment;
  readonly HorizontalPodAutoscaler: IHorizontalPodAutoscaler;
  readonly Job: IJob;
  readonly NetworkPolicy: INetworkPolicy;
  readonly PodDisruptionBudget: IPodDisruptionBudget;
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
