import type { Timeline } from '../timeline.ts';
import { toHistoryResources } from './fhir-history.ts';
import { toObservations } from './fhir-observations.ts';

/** Writes a FHIR R4 collection bundle, one entry a line. */
export function* writeFhirBundle(timeline: Timeline): Generator<string> {
  yield '{"resourceType":"Bundle","type":"collection","entry":[';
  let separator = '\n';
  for (const resource of toResources(timeline)) {
    const { resourceType, id } = resource as { resourceType: string; id: string };
    const fullUrl = `${BASE_URL}${resourceType}/${id}`;
    yield `${separator}${JSON.stringify({ fullUrl, resource })}`;
    separator = ',\n';
  }
  yield '\n]}\n';
}

/** Writes FHIR R4 resources, one a line, as in bulk exports. */
export function* writeFhirLines(timeline: Timeline): Generator<string> {
  for (const resource of toResources(timeline)) yield `${JSON.stringify(resource)}\n`;
}

const BASE_URL = 'https://synthetic.example/fhir/';

function* toResources(timeline: Timeline): Generator<object> {
  yield* toHistoryResources(timeline);
  yield* toObservations(timeline);
}
