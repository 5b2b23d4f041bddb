import type { JsonObject } from '../../src/importers/fhir/json-values.ts';
import type { Outcome } from '../../src/importers/fhir/outcome.ts';
import { References } from '../../src/importers/fhir/references.ts';
import { mapResource } from '../../src/importers/fhir/resources.ts';

/** Maps the last of the resources; the others are in the same bundle. */
export function map(resource: object, others: readonly object[] = []): readonly Outcome[] {
  const references = new References();
  const toUrl = (each: object) => ('id' in each ? `urn:uuid:${String(each.id)}` : '');
  for (const each of [...others, resource]) references.add(toUrl(each), each as JsonObject);
  const patient = references.patients()[0] ?? null;
  return mapResource({ resource: resource as JsonObject, fullUrl: toUrl(resource), references, patient });
}

/** The content of the single record that a resource is mapped to. Throws for any other result. */
export function recordOf(resource: object, others: readonly object[] = []): unknown {
  const [outcome] = map(resource, others);
  if (outcome?.kind !== 'record') throw new TypeError(`became ${JSON.stringify(outcome)}`);
  return outcome.record.record.value;
}

/** The reason why a resource is refused. Throws if it is not. */
export function reasonOf(resource: object, others: readonly object[] = []): string {
  const [outcome] = map(resource, others);
  if (outcome?.kind !== 'refused') throw new TypeError(`became ${JSON.stringify(outcome)}`);
  return outcome.reason;
}
