import { DATA_PATHS, type DataPath, type EndpointId } from '@phds/catalog/endpoints';
import type { Clock } from '@phds/service-kit/clock';
import { type AppError, notFound } from '@phds/service-kit/errors';
import type { Answer } from './document.ts';
import type { ReadingSpans } from './fhir/reading-spans.ts';
import { type Profiles, readProfile } from './profiles.ts';
import { type ReadingChangeReader, readReadingChanges } from './reading-changes.ts';
import { type Readings, readReadings } from './readings.ts';
import { type HealthRecords, readAdherence, readHealthRecords } from './records.ts';
import type { DataRequest } from './request.ts';
import { readAggregations, readTrends, type Summaries } from './summaries.ts';
import { readWeight, type Weights } from './weights.ts';

/** The stores that resources are read from. */
export interface DataParts {
  readonly readings: Readings;
  readonly readingSpans: ReadingSpans;
  readonly readingChanges: ReadingChangeReader;
  /** How long the times of changes of readings are kept. */
  readonly changeDays: number;
  readonly summaries: Summaries;
  readonly weights: Weights;
  readonly healthRecords: HealthRecords;
  readonly profiles: Profiles;
  readonly clock: Clock;
}

/** The data path of an endpoint, with the scope that opens it. Throws NOT_FOUND for an unknown category. */
export function getDataPath(endpoint: EndpointId, category: string): DataPath {
  const path = DATA_PATHS.find((path) => path.endpoint === endpoint && (path.category ?? '') === category);
  if (path === undefined) throw notFound();
  return path;
}

/**
 * Reads a user's rows and encodes them. An error that depends on the rows, such as not found, is returned instead of thrown: it
 * reveals something about the user, so it is recorded and judged like a response.
 */
export async function readResource(parts: DataParts, request: DataRequest): Promise<Answer | AppError> {
  const { endpoint } = request.path;
  switch (endpoint) {
    case 'health-data':
      return request.parameters.updatedSince === null
        ? readReadings(parts, request)
        : readReadingChanges(parts, request);
    case 'aggregations':
      return readAggregations(parts, request);
    case 'trends':
      return readTrends(parts, request);
    case 'adherence':
      return readAdherence(parts, request);
    case 'weight':
      return readWeight(parts, request);
    case 'profile':
      return readProfile(parts, request);
    default:
      return readHealthRecords(parts, endpoint, request);
  }
}
